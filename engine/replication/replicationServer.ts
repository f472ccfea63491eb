import { createHash, timingSafeEqual } from "node:crypto";
import type { ListenAddress } from "../process/config.ts";
import { type Log, messageOf } from "../process/log.ts";
import { encodeMessage, type Frame, FrameReader } from "./frames.ts";
import { type Hello, parseHello, type Refused } from "./handshake.ts";
import type { Connection, Listener, Network } from "./network.ts";

/** Takes the frames that follow a hello. */
export interface FollowerSession {
  receive(frame: Frame): void;
}

export interface ReplicationServerOptions {
  readonly network: Network;
  readonly token: string;
  readonly clusterUid: string;
  readonly log: Log;
  /** Decides on a hello that proved to come from this engine; a session has already answered welcome. */
  readonly accept: (hello: Hello, connection: Connection) => FollowerSession | Refused;
}

const helloDeadlineMs = 2_000;

/** The listener that followers connect to. It answers in every role: a refusal tells a follower more than a closed port. */
export class ReplicationServer {
  readonly #options: ReplicationServerOptions;
  readonly #connections = new Set<Connection>();
  #listener: Listener | null = null;

  constructor(options: ReplicationServerOptions) {
    this.#options = options;
  }

  async listen(address: ListenAddress): Promise<ListenAddress> {
    const { network } = this.#options;
    this.#listener = await network.listen(address, "TE_REPLICATION_ADDR", (connection) => this.#serve(connection));
    return this.#listener.address;
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    await this.#listener?.close();
  }

  #serve(connection: Connection): void {
    const reader = new FrameReader();
    let session: FollowerSession | null = null;
    this.#connections.add(connection);
    connection.closeWhenSilentFor(helloDeadlineMs);
    connection.onClose(() => this.#connections.delete(connection));
    connection.onData((chunk) => {
      try {
        for (const frame of reader.push(chunk)) {
          if (session !== null) session.receive(frame);
          else session = this.#greet(frame, connection);
        }
      } catch (error) {
        this.#options.log.warn("replication connection dropped", { error: messageOf(error) });
        connection.destroy();
      }
    });
  }

  #greet(frame: Frame, connection: Connection): FollowerSession | null {
    const answer = this.#judge(frame, connection);
    if (!("code" in answer)) {
      // From here on the session's own pulses decide whether the follower is there.
      connection.closeWhenSilentFor(null);
      return answer;
    }
    connection.end(encodeMessage("refused", answer));
    return null;
  }

  #judge(frame: Frame, connection: Connection): FollowerSession | Refused {
    const { token, clusterUid, accept } = this.#options;
    const hello = frame.type === "hello" ? parseHello(frame.body) : null;
    if (hello === null || !sameSecret(hello.token, token)) {
      return { code: "UNAUTHORIZED", detail: "a hello with the engine's control token must come first" };
    }
    if (hello.clusterUid !== clusterUid) {
      return { code: "WRONG_CLUSTER", detail: `this replica belongs to ${clusterUid}, not to ${hello.clusterUid}` };
    }
    return accept(hello, connection);
  }
}

/** Compares in a time that does not depend on where the two differ. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest());
