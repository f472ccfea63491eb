/** Milliseconds on the monotonic clock, comparable between the threads of this process. */
export type Clock = () => number;

export const monotonicClock: Clock = () => Number(process.hrtime.bigint()) / 1e6;
