/**
 * A running 64-bit hash of everything the exchange decided. Two replicas that applied the
 * same records and decided the same have the same digest; one differing decision changes
 * it for good. Detects faults, not forgery.
 */
export class Digest {
  // Signed, as bit operations give them: V8 keeps such numbers without a box.
  #low: number;
  #high: number;

  /** A digest that goes on from these halves, or a new one. */
  constructor(low = 0x811c9dc5, high = 0x01000193) {
    this.#low = low | 0;
    this.#high = high | 0;
  }

  /** Mixes in a non-negative safe integer. */
  number(value: number): void {
    this.#word(value >>> 0);
    this.#word(Math.floor(value / 0x1_0000_0000));
  }

  text(value: string): void {
    this.#word(value.length);
    for (let index = 0; index < value.length; index += 1) this.#word(value.charCodeAt(index));
  }

  get low(): number {
    return this.#low >>> 0;
  }

  get high(): number {
    return this.#high >>> 0;
  }

  toString(): string {
    return formatDigest(this.high, this.low);
  }

  #word(word: number): void {
    this.#low = Math.imul(this.#low ^ word, 0x9e3779b1);
    this.#low ^= this.#low >>> 15;
    this.#high = Math.imul((this.#high << 5) ^ (this.#high >>> 27) ^ word ^ this.#low, 0x85ebca6b);
  }
}

/** Sixteen hexadecimal digits. */
export const formatDigest = (high: number, low: number): string =>
  high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
