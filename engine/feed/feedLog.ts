interface Entry {
  readonly seq: number;
  readonly line: string;
}

/**
 * The latest lines of the feed, for readers that come back or lag behind. Bounded by size: a reader that needs more
 * than is here has to begin with a snapshot.
 */
export class FeedLog {
  readonly #maxChars: number;
  #entries: Entry[] = [];
  #head = 0;
  #chars = 0;
  /** Last record of which a line was here and is not any more, or that was applied before the log began. */
  #forgotten = 0;
  #last = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** First record from which on every line is here. */
  get firstFrom(): number {
    return this.#forgotten + 1;
  }

  /** Last record that changed the market, or that the log began after. */
  get last(): number {
    return this.#last;
  }

  /** Forgets everything, and goes on after record `seq`. */
  restart(seq: number): void {
    this.#entries = [];
    this.#head = 0;
    this.#chars = 0;
    this.#forgotten = seq;
    this.#last = seq;
  }

  add(seq: number, line: string): void {
    this.#entries.push({ seq, line });
    this.#chars += line.length;
    this.#last = seq;
    while (this.#chars > this.#maxChars) this.#forgetOldest();
    if (this.#head > 10_000 && this.#head * 2 > this.#entries.length) this.#compact();
  }

  /** Lines of the records from `from` on, up to `maxChars` or one line; `next` is where to go on. Null when some are not here any more. */
  read(from: number, maxChars: number): { readonly text: string; readonly next: number } | null {
    if (from <= this.#forgotten) return null;
    let text = "";
    let next = from;
    for (let index = this.#find(from); index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry === undefined || (text !== "" && text.length + entry.line.length > maxChars)) break;
      text += entry.line;
      next = entry.seq + 1;
    }
    return { text, next };
  }

  #find(from: number): number {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.seq ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #forgetOldest(): void {
    const oldest = this.#entries[this.#head];
    if (oldest === undefined) return;
    this.#chars -= oldest.line.length;
    this.#forgotten = oldest.seq;
    this.#head += 1;
  }

  #compact(): void {
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }
}
