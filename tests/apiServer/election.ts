/** What the processes of an election test agree on. */

export const leaseRef = { namespace: "default", name: "enginekeeper" } as const;

/** As the daemon's own. */
export const electionTiming = { durationMs: 4_000, renewDeadlineMs: 3_000, retryMs: 1_000 } as const;
