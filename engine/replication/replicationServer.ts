import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { type ListenAddress } from "../process/config.ts";
import { FatalError } from "../process/exit.ts";
import { type Log, messageOf } from "../process/log.ts";
import { encodeMessage, type Frame, FrameReader } from "./frames.ts";
import { type Hello, parseHello, type Refused } from "./handshake.ts";

/** Takes the frames that follow a hello. */
export interface FollowerSession {
  receive(frame: Frame): void;
}

export interface ReplicationServerOptions {
  readonly token: string;
  readonly clusterUid: string;
  readonly log: Log;
  /** Decides on a hello that proved to come from this engine; a session has already answered welcome. */
  readonly accept: (hello: Hello, socket: Socket) => FollowerSession | Refused;
}

const helloDeadlineMs = 2_000;

/** The listener that followers connect to. It answers in every role: a refusal tells a follower more than a closed port. */
export class ReplicationServer {
  readonly #options: ReplicationServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(options: ReplicationServerOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  listen(address: ListenAddress): Promise<ListenAddress> {
    return listen(this.#server, address, "TE_REPLICATION_ADDR");
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    const reader = new FrameReader();
    let session: FollowerSession | null = null;
    this.#sockets.add(socket);
    socket.setTimeout(helloDeadlineMs, () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      try {
        for (const frame of reader.push(chunk)) {
          if (session !== null) session.receive(frame);
          else session = this.#greet(frame, socket);
        }
      } catch (error) {
        this.#options.log.warn("replication connection dropped", { error: messageOf(error) });
        socket.destroy();
      }
    });
  }

  #greet(frame: Frame, socket: Socket): FollowerSession | null {
    const answer = this.#judge(frame, socket);
    if (!("code" in answer)) {
      // From here on the session's own pulses decide whether the follower is there.
      socket.setTimeout(0);
      return answer;
    }
    socket.end(encodeMessage("refused", answer));
    return null;
  }

  #judge(frame: Frame, socket: Socket): FollowerSession | Refused {
    const { token, clusterUid, accept } = this.#options;
    const hello = frame.type === "hello" ? parseHello(frame.body) : null;
    if (hello === null || !sameSecret(hello.token, token)) {
      return { code: "UNAUTHORIZED", detail: "a hello with the engine's control token must come first" };
    }
    if (hello.clusterUid !== clusterUid) {
      return { code: "WRONG_CLUSTER", detail: `this replica belongs to ${clusterUid}, not to ${hello.clusterUid}` };
    }
    return accept(hello, socket);
  }
}

/** Compares in a time that does not depend on where the two differ. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest());

/** Listens and answers the bound address. A port that cannot be had is a configuration error named after `variable`. */
export const listen = (server: Server, address: ListenAddress, variable: string): Promise<ListenAddress> =>
  new Promise((resolve, reject) => {
    server.once("error", (error) => {
      reject(new FatalError("config", `${variable}=${address.host}:${address.port}: ${error.message}`));
    });
    server.listen(address.port, address.host, () => {
      const bound = server.address();
      const port = typeof bound === "object" && bound !== null ? bound.port : address.port;
      resolve({ host: address.host, port });
    });
  });
