const firstWaitMs = 200;
const lastWaitMs = 10_000;

interface Try {
  readonly at: number;
  readonly waitMs: number;
}

/**
 * Keeps a step from being repeated at the pace of the loop: what a step changes is seen only when a watch or a stream
 * reports it, and a step that is refused would be refused again at once. The wait doubles from 200 ms to 10 s.
 */
export class StepBackoff {
  readonly #tries = new Map<string, Try>();

  /** True when the step may be tried now; it counts as tried then. */
  admit(key: string, now: number): boolean {
    const last = this.#tries.get(key);
    if (last !== undefined && now < last.at + last.waitMs) return false;
    this.#tries.set(key, { at: now, waitMs: last === undefined ? firstWaitMs : Math.min(last.waitMs * 2, lastWaitMs) });
    return true;
  }

  /** Forgets steps that are not asked for any more, so that they begin anew when they are. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#tries.keys()) if (!keys.has(key)) this.#tries.delete(key);
  }
}
