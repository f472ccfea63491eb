/** Where orders go: straight to the replicas, or to one address that somebody else routes. */
export type Destination =
  | { readonly kind: "replicas"; readonly targets: readonly string[] }
  | { readonly kind: "service"; readonly target: string };

/** For this long a replica that just failed is not believed to be the leader: a standby's hint may still name the dead one. */
const distrustMs = 300;

/**
 * The workers' common belief about which address (host:port) takes orders. What one
 * worker learns spares the others the same detour. Times are milliseconds of one monotonic clock.
 */
export class ReplicaRoute {
  readonly #destination: Destination;
  readonly #failedAt = new Map<string, number>();
  #target: string;

  /** @throws Error when there is no address to send to. */
  constructor(destination: Destination) {
    const first = destination.kind === "service" ? destination.target : destination.targets[0];
    if (first === undefined) throw new Error("no replica to send orders to: name at least one host:port");
    this.#destination = destination;
    this.#target = first;
  }

  get target(): string {
    return this.#target;
  }

  /**
   * Behind one address a connection sticks to the replica it was opened to: only a new
   * one is routed anew. Replicas have an address each, so their connections may stay.
   */
  get reconnects(): boolean {
    return this.#destination.kind === "service";
  }

  /** An attempt at `from` came to nothing. */
  failed(from: string, now: number): void {
    this.#failedAt.set(from, now);
    this.#moveOn(from);
  }

  /** `from` says that it is not the primary, and who is, as far as it knows. */
  redirected(from: string, leader: string | null, now: number): void {
    if (this.#destination.kind === "service") return;
    if (leader === null || leader === from || this.#isDistrusted(leader, now)) {
      this.#moveOn(from);
    } else if (this.#target === from) {
      this.#target = leader;
    }
  }

  /** `target` acknowledged an order. */
  confirmed(target: string): void {
    this.#failedAt.delete(target);
    this.#target = target;
  }

  #isDistrusted(target: string, now: number): boolean {
    const failedAt = this.#failedAt.get(target);
    return failedAt !== undefined && now - failedAt < distrustMs;
  }

  /** To the next replica, unless another worker has already left `from`. */
  #moveOn(from: string): void {
    if (this.#destination.kind === "service" || this.#target !== from) return;
    const { targets } = this.#destination;
    // A hint may have named an address outside the list: indexOf is then -1 and the list starts over.
    this.#target = targets[(targets.indexOf(from) + 1) % targets.length] ?? from;
  }
}
