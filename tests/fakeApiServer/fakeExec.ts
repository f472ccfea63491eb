/** The far end of an exec: speaks just enough WebSocket to send what a kubelet sends, and less. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

/** One running command, in the hands of a test. */
export interface FakeExecSession {
  readonly request: IncomingMessage;
  /** 1 = stdout, 2 = stderr, 3 = the final Status. */
  send(channel: number, content: string): void;
  close(): void;
  /** Drops the connection without a word. */
  drop(): void;
}

export interface FakeExecServer {
  readonly server: string;
  stop(): void;
}

/** From RFC 6455: proves that the other side speaks WebSocket. */
const handshakeSalt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const binaryFrame = 0x82;
const closeFrame = 0x88;
const longestShortFrame = 125;

/** `onSession` plays the container; without it no upgrade is ever answered. */
export const startFakeExecServer = async (onSession?: (session: FakeExecSession) => void): Promise<FakeExecServer> => {
  const sockets = new Set<Duplex>();
  const server = createServer((_, response) => response.writeHead(403).end());
  server.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    if (onSession === undefined) return;
    const key = request.headers["sec-websocket-key"] ?? "";
    const accept = createHash("sha1")
      .update(key + handshakeSalt)
      .digest("base64");
    socket.write(
      [
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        `Sec-WebSocket-Accept: ${accept}`,
        `Sec-WebSocket-Protocol: ${request.headers["sec-websocket-protocol"] ?? ""}`,
        "",
        "",
      ].join("\r\n"),
    );
    onSession({
      request,
      send: (channel, content) => void socket.write(frameOf(Buffer.from([channel, ...Buffer.from(content)]))),
      close: () => void socket.end(Buffer.from([closeFrame, 0])),
      drop: () => void socket.destroy(),
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A listening TCP server has a port; only one on a pipe would answer a string.
  const { port } = server.address() as AddressInfo;
  return {
    server: `http://127.0.0.1:${port}`,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

const frameOf = (payload: Buffer): Buffer => {
  if (payload.length <= longestShortFrame) return Buffer.concat([Buffer.from([binaryFrame, payload.length]), payload]);
  const head = Buffer.from([binaryFrame, 126, 0, 0]);
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
};
