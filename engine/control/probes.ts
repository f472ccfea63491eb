import type { EngineStatus } from "./status.ts";

/** A probe's answer: the status code is the answer, the reason is for people. */
export interface ProbeAnswer {
  readonly ok: boolean;
  readonly reason: string;
}

/** The main thread may be late by this much before the process counts as hung: long enough for any collection or replay turn. */
const hungMs = 10_000;

/** Only whether the process still turns: a disk or a peer in trouble is no reason to kill it. */
export const livez = (status: EngineStatus): ProbeAnswer =>
  status.loopLagMs < hungMs ? yes("alive") : no(`the main thread has been silent for ${status.loopLagMs} ms`);

export const startupz = (status: EngineStatus): ProbeAnswer =>
  status.role === "recovering" ? no(status.readyReason) : yes("started");

export const readyz = (status: EngineStatus): ProbeAnswer => (status.ready ? yes("ready") : no(status.readyReason));

/** A primary that cannot commit is not one to send orders to. */
export const isPrimary = (status: EngineStatus): ProbeAnswer => {
  if (status.role !== "primary") return no(`role is ${status.role}`);
  if (status.sync?.satisfied !== true) return no("fewer standbys are in sync than an acknowledgement needs");
  if (status.watermarks.committed < status.epoch.startSeq) return no("the epoch is not committed yet");
  return status.ready ? yes("primary") : no(status.readyReason);
};

export interface StandbyBounds {
  readonly maxLagRecords: number | null;
  readonly maxLagMs: number | null;
}

/** A standby that is connected and within the asked bounds. */
export const isStandby = (status: EngineStatus, bounds: StandbyBounds): ProbeAnswer => {
  if (status.role !== "standby") return no(`role is ${status.role}`);
  if (status.upstream?.connected !== true) return no("not connected to a primary");
  const lag = status.watermarks.committed - status.watermarks.applied;
  if (bounds.maxLagRecords !== null && lag > bounds.maxLagRecords) return no(`${lag} records behind`);
  const heardMs = status.upstream.lastHeardMs ?? Number.POSITIVE_INFINITY;
  if (bounds.maxLagMs !== null && heardMs > bounds.maxLagMs) return no(`primary last heard ${heardMs} ms ago`);
  return yes("standby");
};

const yes = (reason: string): ProbeAnswer => ({ ok: true, reason });
const no = (reason: string): ProbeAnswer => ({ ok: false, reason });
