import type { GrantStep } from "../decide/index.ts";
import type { ActWorld } from "./ports.ts";

/** A grant is renewed in a third of its time, so that two renewals may fail. */
const renewalsPerGrant = 3;
const retryMs = 500;

/** Gives a primary its grants, and remembers when the next one is due. */
export class Granting {
  #primary = "";
  #dueAt = 0;

  /** Answers why a grant that was due could not be given; undefined when it was, or when none was due. */
  async renew(step: GrantStep | undefined, { calls, clock }: ActWorld): Promise<Error | undefined> {
    if (step === undefined) {
      this.#primary = "";
      return undefined;
    }
    const primary = `${step.replica.pod.uid} ${step.epoch}`;
    const now = clock.now();
    if (primary === this.#primary && now < this.#dueAt) return undefined;
    this.#primary = primary;
    try {
      await calls.grant(step.replica, step.epoch, step.ttlMs);
      this.#dueAt = now + step.ttlMs / renewalsPerGrant;
      return undefined;
    } catch (error) {
      this.#dueAt = now + retryMs;
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}
