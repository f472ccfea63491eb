/** A clock that stands still until a test moves it. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../reconciler/kube/clock.ts";

export interface VirtualClock extends Clock {
  /** Lets `ms` pass: runs what falls due on the way, in order, and lets real I/O between make its way. */
  advance(ms: number): Promise<void>;
  /**
   * Lets time pass in steps of `stepMs` until `condition` holds, and returns how much; throws with `what` when that takes
   * more than ten seconds of real time. For what needs many exchanges, whose real time nobody can foresee.
   */
  advanceUntil(what: string, condition: () => boolean, stepMs?: number): Promise<number>;
  /** Lets the time of all timers slip, as for a process that was stopped: `ms` pass, and only then anything runs. */
  jump(ms: number): Promise<void>;
  /** Callbacks that wait. */
  readonly pending: number;
}

/**
 * Enough turns of the event loop for some exchanges with a server in this process. Turns and not milliseconds, since a
 * busy machine may pass a process over for any time, but lets a turn of its loop see whatever has arrived.
 */
const settleTurns = 60;
const patienceMs = 10_000;

export interface VirtualClockOptions {
  readonly wallStart?: Date;
  /** Resolves once a server outside this process has answered what it was asked; asked before any time passes. */
  readonly settled?: () => Promise<void>;
}

export const createVirtualClock = (options: VirtualClockOptions = {}): VirtualClock => {
  const { wallStart = new Date("2026-01-01T00:00:00.000Z"), settled } = options;
  interface Waiting {
    readonly at: number;
    readonly callback: () => void;
  }
  const waiting = new Set<Waiting>();
  let now = 0;

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < settleTurns; turn++) await nextTurn();
    if (settled === undefined) return;
    await settled();
    for (let turn = 0; turn < settleTurns; turn++) await nextTurn();
  };
  const nextDue = (until: number): Waiting | undefined => {
    let first: Waiting | undefined;
    for (const timer of waiting) {
      if (timer.at <= until && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  };
  const runUntil = async (until: number): Promise<void> => {
    for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
      waiting.delete(due);
      now = Math.max(now, due.at);
      due.callback();
      await settle();
    }
  };

  const advance = async (ms: number): Promise<void> => {
    const end = now + ms;
    await settle();
    await runUntil(end);
    now = end;
  };

  return {
    now: () => now,
    wall: () => new Date(wallStart.getTime() + now),
    setTimeout(callback, ms) {
      const timer = { at: now + Math.max(0, ms), callback };
      waiting.add(timer);
      return { cancel: () => void waiting.delete(timer) };
    },
    advance,
    async advanceUntil(what, condition, stepMs = 100) {
      const from = now;
      const giveUpAt = performance.now() + patienceMs;
      while (!condition()) {
        if (performance.now() > giveUpAt) throw new Error(`waited in vain for: ${what}`);
        await advance(stepMs);
      }
      return now - from;
    },
    async jump(ms) {
      now += ms;
      await runUntil(now);
    },
    get pending() {
      return waiting.size;
    },
  };
};
