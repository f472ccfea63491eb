import type { Answer } from "../engine/orders/stream/frameReader.ts";
import type { Welcome } from "../engine/orders/stream/protocol.ts";
import { type ConnectionEnd, StreamConnection } from "./streamConnection.ts";

export interface PrimaryLinkEvents {
  /** Requests go to `connection` from now on. */
  onPrimary(connection: StreamConnection, welcome: Welcome): void;
  onAnswer(connection: StreamConnection, answer: Answer): void;
  /** Nothing more is answered on `connection`. */
  onLost(connection: StreamConnection): void;
}

export interface PrimaryLinkOptions {
  /** Order entries of the replicas, host:port. */
  readonly replicas: readonly string[];
  /** How often a replica that does not lead is asked again, on average. */
  readonly probeMs: number;
  readonly connectTimeoutMs: number;
  /** A primary that says nothing for this long is taken for gone. */
  readonly silenceMs: number;
  readonly clock: () => number;
  readonly random: () => number;
  readonly events: PrimaryLinkEvents;
}

interface Primary {
  readonly connection: StreamConnection;
  readonly welcome: Welcome;
  /** It said goodbye: answers still come, requests go nowhere. */
  leaving: boolean;
}

/**
 * Finds the primary among the replicas and keeps one stream to it. Asks all replicas at a time whenever there is none,
 * or when the one there is seems unable to commit; the newest epoch wins, and an older one is never gone back to.
 */
export class PrimaryLink {
  readonly #options: PrimaryLinkOptions;
  /** When to ask each replica next; null while an attempt is under way. */
  readonly #nextAt = new Map<string, number | null>();
  readonly #attempts = new Map<string, StreamConnection>();
  #primary: Primary | null = null;
  #highestEpoch = 0;
  #doubted = false;
  #closed = false;

  constructor(options: PrimaryLinkOptions) {
    this.#options = options;
    for (const address of options.replicas) this.#nextAt.set(address, 0);
  }

  /** The stream that takes requests now. */
  get connection(): StreamConnection | null {
    return this.#primary === null || this.#primary.leaving ? null : this.#primary.connection;
  }

  get welcome(): Welcome | null {
    return this.#primary?.welcome ?? null;
  }

  /** Highest epoch seen. */
  get epoch(): number {
    return this.#highestEpoch;
  }

  /** The primary cannot commit: it may have been replaced without noticing, so look for another as well. */
  doubt(): void {
    this.#doubted = true;
  }

  /** The primary has committed something. */
  trust(): void {
    this.#doubted = false;
  }

  /** To be called often: every few milliseconds while something waits. */
  tick(): void {
    if (this.#closed) return;
    const now = this.#options.clock();
    this.#checkPrimary(now);
    if (this.connection !== null && !this.#doubted) return;
    for (const [address, at] of this.#nextAt) {
      if (at !== null && at <= now && address !== this.connection?.address) this.#ask(address);
    }
  }

  close(): void {
    this.#closed = true;
    this.#dropAttempts();
    this.#primary?.connection.drop();
  }

  #checkPrimary(now: number): void {
    if (this.#primary === null) return;
    const { connection, welcome } = this.#primary;
    if (now - connection.heardAt > this.#options.silenceMs) connection.drop();
    else if (now - connection.spokeAt > welcome.heartbeatMs) connection.out.heartbeat();
  }

  #ask(address: string): void {
    this.#nextAt.set(address, null);
    const { connectTimeoutMs, clock } = this.#options;
    const events = {
      onWelcome: (connection: StreamConnection, welcome: Welcome) => this.#welcomed(connection, welcome),
      onAnswer: (connection: StreamConnection, answer: Answer) => this.#answered(connection, answer),
      onEnd: (connection: StreamConnection, end: ConnectionEnd) => this.#ended(connection, end),
    };
    this.#attempts.set(address, new StreamConnection({ address, connectTimeoutMs, clock, events }));
  }

  #welcomed(connection: StreamConnection, welcome: Welcome): void {
    const newer = this.connection === null ? welcome.epoch >= this.#highestEpoch : welcome.epoch > this.#highestEpoch;
    if (!newer) {
      connection.drop();
      return;
    }
    this.#attempts.delete(connection.address);
    const previous = this.#primary;
    this.#primary = { connection, welcome, leaving: false };
    this.#highestEpoch = welcome.epoch;
    this.#doubted = false;
    this.#dropAttempts();
    // What an older epoch still says counts no more: what it acknowledged is known to the new one.
    previous?.connection.drop();
    this.#options.events.onPrimary(connection, welcome);
  }

  #answered(connection: StreamConnection, answer: Answer): void {
    if (this.#primary?.connection !== connection) return;
    if (answer.type === "goodbye") {
      this.#primary.leaving = true;
      if (answer.goodbye.leader !== null) this.#askSoon(answer.goodbye.leader.orders);
    }
    this.#options.events.onAnswer(connection, answer);
  }

  #ended(connection: StreamConnection, end: ConnectionEnd): void {
    const { address } = connection;
    const { probeMs, clock, random, events } = this.#options;
    if (this.#attempts.get(address) === connection) this.#attempts.delete(address);
    this.#nextAt.set(address, clock() + probeMs * (0.5 + random()));
    if (end.kind === "redirected" && end.leader !== null) this.#askSoon(end.leader);
    if (this.#primary?.connection === connection) this.#primary = null;
    events.onLost(connection);
  }

  #askSoon(address: string): void {
    if (this.#nextAt.get(address) !== null) this.#nextAt.set(address, 0);
  }

  #dropAttempts(): void {
    for (const attempt of [...this.#attempts.values()]) attempt.drop();
  }
}
