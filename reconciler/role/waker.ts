/** A sleep that can be cut short. A wake that comes while nobody sleeps makes the next sleep return at once. */
export class Waker {
  #isDue = false;
  #finish: (() => void) | undefined;

  wake(): void {
    this.#isDue = true;
    this.#finish?.();
  }

  /** Resolves after `ms`, at the next {@link wake}, or when `signal` aborts. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isDue && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const finish = (): void => resolve(undefined);
      const timer = setTimeout(finish, ms);
      signal.addEventListener("abort", finish, { once: true });
      this.#finish = finish;
      await promise;
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      this.#finish = undefined;
    }
    this.#isDue = false;
  }
}
