import type { ListenAddress } from "../process/config.ts";

/** The network between replicas: ordered byte streams that may stall, break, or be silent at any moment. */
export interface Network {
  /** Answers at once; the connection is up when {@link Connection.onOpen} says so. */
  connect(address: ListenAddress): Connection;
  /** A port that cannot be had is a configuration error named after `variable`. */
  listen(address: ListenAddress, variable: string, serve: (connection: Connection) => void): Promise<Listener>;
}

export interface Listener {
  readonly address: ListenAddress;
  /** Takes no more connections, and resolves once those it took are closed. */
  close(): Promise<void>;
}

/** One end of a byte stream. Listeners add up, and are called with nothing that came before them. */
export interface Connection {
  /** No byte comes out or goes in any more. */
  readonly closed: boolean;
  /**
   * Sends `pieces` in one go, in order, behind what was sent before. False: more is waiting to be sent than should, so wait
   * for {@link onDrain}.
   */
  write(...pieces: readonly Uint8Array[]): boolean;
  /** Sends `bytes` as the last thing, then closes. */
  end(bytes: Uint8Array): void;
  /** Closes at once; what was not sent yet is lost. */
  destroy(): void;
  /** Lets received bytes wait. The other side notices when it cannot send any more. */
  pause(): void;
  resume(): void;
  /** Closes the connection once nothing has gone in or out for so long; null lifts that. */
  closeWhenSilentFor(milliseconds: number | null): void;
  onOpen(listener: () => void): void;
  onData(listener: (bytes: Buffer) => void): void;
  onDrain(listener: () => void): void;
  /** Called once; `error` is null unless something broke. */
  onClose(listener: (error: Error | null) => void): void;
}
