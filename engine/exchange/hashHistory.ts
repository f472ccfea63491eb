import { type Digest, formatDigest } from "./digest.ts";

/** Digests of the latest records, so that two replicas can be compared at the same one while both move on. */
export class HashHistory {
  readonly #capacity: number;
  readonly #seqs: Float64Array;
  readonly #halves: Uint32Array;

  constructor(capacity = 65_536) {
    this.#capacity = capacity;
    this.#seqs = new Float64Array(capacity);
    this.#halves = new Uint32Array(capacity * 2);
  }

  add(seq: number, digest: Digest): void {
    const slot = seq % this.#capacity;
    this.#seqs[slot] = seq;
    this.#halves[slot * 2] = digest.high;
    this.#halves[slot * 2 + 1] = digest.low;
  }

  at(seq: number): string | null {
    const slot = seq % this.#capacity;
    if (seq === 0 || this.#seqs[slot] !== seq) return null;
    return formatDigest(this.#halves[slot * 2] ?? 0, this.#halves[slot * 2 + 1] ?? 0);
  }
}
