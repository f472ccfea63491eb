import type { Acknowledgement } from "./reply.ts";

/** One acknowledgement as it was received. Times are milliseconds of one monotonic clock. */
export interface Ack extends Acknowledgement {
  readonly clientId: string;
  /** When the attempt that was acknowledged left. */
  readonly sentMs: number;
  readonly ackedMs: number;
}

/** Numbers of one ack in {@link AckLog}: clientNumber, epoch, seq, duplicate, sentMs, ackedMs. */
const columns = 6;
const rowsPerChunk = 4096;

/**
 * Every acknowledgement of a run, at some 80 bytes each: plain objects would take several
 * times that, and a long run under load must not end for want of memory.
 */
export class AckLog {
  readonly #clientId: (clientNumber: number) => string;
  readonly #capacity: number;
  readonly #chunks: Float64Array[] = [];
  readonly #orderIds: string[] = [];

  /** `capacity` is the most acknowledgements kept; see {@link isFull}. */
  constructor(clientId: (clientNumber: number) => string, capacity: number) {
    this.#clientId = clientId;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#orderIds.length;
  }

  /** Once full the client must stop sending: an acknowledgement that is not kept cannot be checked. */
  get isFull(): boolean {
    return this.size >= this.#capacity;
  }

  add(clientNumber: number, ack: Acknowledgement, sentMs: number, ackedMs: number): void {
    const row = this.size % rowsPerChunk;
    if (row === 0) this.#chunks.push(new Float64Array(rowsPerChunk * columns));
    const values = [clientNumber, ack.epoch, ack.seq, ack.duplicate ? 1 : 0, sentMs, ackedMs];
    this.#chunks.at(-1)?.set(values, row * columns);
    this.#orderIds.push(ack.orderId);
  }

  /** In the order of arrival. What arrives during the iteration is included. */
  *all(): Generator<Ack> {
    for (let index = 0; index < this.size; index++) {
      const chunk = this.#chunks[Math.floor(index / rowsPerChunk)] ?? new Float64Array();
      const start = (index % rowsPerChunk) * columns;
      const [clientNumber = 0, epoch = 0, seq = 0, duplicate = 0, sentMs = 0, ackedMs = 0] = chunk.subarray(
        start,
        start + columns,
      );
      const orderId = this.#orderIds[index] ?? "";
      yield {
        clientId: this.#clientId(clientNumber),
        epoch,
        seq,
        orderId,
        duplicate: duplicate === 1,
        sentMs,
        ackedMs,
      };
    }
  }
}
