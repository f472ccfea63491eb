import { uptime } from "node:os";

/** Milliseconds on the monotonic clock, comparable between the threads of this process. */
export type Clock = () => number;

export const monotonicClock: Clock = () => Number(process.hrtime.bigint()) / 1e6;

/**
 * Milliseconds since the machine started, time in which it was suspended included. The monotonic clock stands still
 * then, and Node.js offers no other one: this is Linux's /proc/uptime, in steps of 10 ms.
 */
export const bootClock: Clock = () => uptime() * 1000;
