import { setImmediate as turn } from "node:timers/promises";

interface Event {
  readonly at: number;
  /** Events of one moment happen in the order in which they were scheduled. */
  readonly order: number;
  run: (() => void) | null;
}

/**
 * Virtual time in milliseconds. It stands still while code runs and jumps to the next event: a run needs no real time but
 * that of its own work, and is the same every time.
 */
export class Scheduler {
  readonly #heap: Event[] = [];
  #now = 0;
  #scheduled = 0;

  get now(): number {
    return this.#now;
  }

  /** Events scheduled so far: a measure of how much has happened. */
  get scheduled(): number {
    return this.#scheduled;
  }

  after(milliseconds: number, run: () => void): () => void {
    this.#scheduled += 1;
    const event: Event = { at: this.#now + Math.max(0, milliseconds), order: this.#scheduled, run };
    this.#push(event);
    return () => {
      event.run = null;
    };
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  /** Runs events until `done` or until `deadline`; true when `done`. Each event's promises settle before the next event. */
  async runUntil(done: () => boolean, deadline: number): Promise<boolean> {
    await turn();
    while (!done()) {
      const event = this.#heap[0];
      if (event === undefined || event.at > deadline) {
        this.#now = deadline;
        return false;
      }
      this.#pop();
      if (event.run === null) continue;
      this.#now = event.at;
      event.run();
      await turn();
    }
    return true;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(event);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(event, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || !isBefore(child, last)) break;
      heap[index] = child;
      index = 2 * index + (isRight ? 2 : 1);
    }
    heap[index] = last;
  }
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
