import type { Clock } from "../process/clock.ts";
import type { Timers } from "../process/timers.ts";

export interface LeadershipProofOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** A gap between two ticks that is longer than this means that the process stood still. */
  readonly suspicionMs: number;
  /** Sends `ping` to every follower; each returns it. */
  readonly pulse: (ping: number) => void;
}

interface Request {
  readonly ping: number;
  readonly deadline: number;
  readonly resolve: (proven: boolean) => void;
}

/**
 * Proof by round trip that this primary still leads. Needed twice: before a negative answer, and after this process
 * stood still (a stopped container, a long pause), because acknowledgements that waited in the
 * socket meanwhile were sent before followers may have promised a newer epoch.
 */
export class LeadershipProof {
  readonly #options: LeadershipProofOptions;
  #ping = 0;
  #sentPing = 0;
  #requiredEcho = 0;
  #lastTickAt: number;
  #requests: Request[] = [];
  #pulseScheduled = false;

  constructor(options: LeadershipProofOptions) {
    this.#options = options;
    this.#lastTickAt = options.clock();
  }

  /** An acknowledgement counts only from a follower that returned this ping or a later one. */
  get requiredEcho(): number {
    return this.#requiredEcho;
  }

  /** Resolves true once `provenBy` holds for a ping sent after this call, false after `timeoutMs`. */
  request(timeoutMs: number, provenBy: (ping: number) => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      this.#requests.push({ ping: this.#nextPing(), deadline: this.#options.clock() + timeoutMs, resolve });
      this.settle(provenBy);
    });
  }

  /** To be called before acknowledgements are counted. */
  checkForPause(): void {
    const now = this.#options.clock();
    if (now - this.#lastTickAt <= this.#options.suspicionMs) return;
    this.#lastTickAt = now;
    this.#requiredEcho = this.#nextPing();
  }

  tick(): void {
    this.checkForPause();
    const now = this.#options.clock();
    this.#lastTickAt = now;
    for (const request of this.#requests) if (request.deadline <= now) request.resolve(false);
    this.#requests = this.#requests.filter((request) => request.deadline > now);
    this.#send();
  }

  /** Answers the requests that are proven by now. */
  settle(provenBy: (ping: number) => boolean): void {
    if (this.#requests.length === 0) return;
    const open: Request[] = [];
    for (const request of this.#requests) {
      if (provenBy(request.ping)) request.resolve(true);
      else open.push(request);
    }
    this.#requests = open;
  }

  abandon(): void {
    for (const request of this.#requests) request.resolve(false);
    this.#requests = [];
  }

  /** A ping that no follower has seen; it goes out at the end of this turn, once for all who ask in it. */
  #nextPing(): number {
    if (this.#sentPing === this.#ping) this.#ping += 1;
    if (!this.#pulseScheduled) {
      this.#pulseScheduled = true;
      this.#options.timers.soon(() => {
        this.#pulseScheduled = false;
        if (this.#sentPing < this.#ping) this.#send();
      });
    }
    return this.#ping;
  }

  #send(): void {
    this.#sentPing = this.#ping;
    this.#options.pulse(this.#ping);
  }
}
