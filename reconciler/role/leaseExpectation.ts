import type { LeaseView } from "../observe/index.ts";

/** After so long the informer is believed whatever it shows: the write may have been undone by somebody else. */
const patienceMs = 2_000;

/**
 * The Lease as this process wrote it last. Until the informer shows it, a decision would be made on the state before:
 * the primary that was just replaced would be replaced again.
 */
export class LeaseExpectation {
  #expected: { readonly epoch: number; readonly holder: string; readonly at: number } | undefined;

  expect(epoch: number, holder: string, now: number): void {
    this.#expected = { epoch, holder, at: now };
  }

  isPending(lease: LeaseView | undefined, now: number): boolean {
    const expected = this.#expected;
    if (expected === undefined) return false;
    const seen = lease?.epoch ?? 0;
    const isShown = seen > expected.epoch || (seen === expected.epoch && lease?.holder === expected.holder);
    if (!isShown && now < expected.at + patienceMs) return true;
    this.#expected = undefined;
    return false;
  }
}
