/** What is published about an engine. Pure, and the only place where it is decided. */
import { annotations, childNames, ports } from "../../api/names.ts";
import type { LastFailover, LastUpdate, ReplicaStatus, TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import type { Decision } from "../decide/index.ts";
import type { EngineSnapshot } from "../observe/snapshot.ts";
import { dateConditions, type Facts, judgeAll } from "./conditions.ts";
import type { Judgement } from "./judgement.ts";
import { phaseOf } from "./phase.ts";
import { findProblems } from "./replicaProblem.ts";
import { describeReplicas, primaryOf } from "./replicaStatus.ts";

export interface StatusInput {
  readonly snapshot: EngineSnapshot;
  readonly decision: Decision;
  /** The clock of the snapshot. */
  readonly now: number;
  /** RFC 3339, for condition times. */
  readonly wall: string;
  /** The status that is replaced. */
  readonly before: TradingEngineStatus | undefined;
  /** The last change of the primary, if this process made it. */
  readonly lastFailover: LastFailover | undefined;
}

/**
 * While the primary is suspected, or streams are being opened for the first time, the next moment tells more: a status
 * from this one would be written only to be taken back.
 */
export function isWorthPublishing({ verdict }: Decision, { replicas }: EngineSnapshot, now: number): boolean {
  const isSettling = replicas.some(
    ({ stream }) => stream?.connection.kind === "connecting" && now - stream.connection.since < settlesWithinMs,
  );
  return verdict.kind !== "suspect" && verdict.kind !== "unrecorded" && !isSettling;
}

const settlesWithinMs = 2_000;

export function buildStatus(input: StatusInput): TradingEngineStatus {
  const { snapshot, decision, now, before } = input;
  const { key, spec, generation } = snapshot;
  const problems = findProblems(snapshot);
  const replicas = describeReplicas(snapshot, decision.verdict, problems, now);
  const facts: Facts = { snapshot, decision, replicas, problems };
  const judgements = judgeAll(facts);
  const ready = replicas.filter((replica) => replica.ready).length;
  const inSync = replicas.filter((replica) => replica.inSync && replica.role === "Standby").length;
  const primary = primaryOf(decision.verdict);
  const lastFailover = input.lastFailover ?? before?.lastFailover;
  const lastUpdate = lastUpdateOf(snapshot) ?? before?.lastUpdate;
  const settledRollout = isSettled(judgements) ? snapshot.annotations[annotations.rollout] : before?.settledRollout;
  const names = childNames(key.name);
  const hostOf = (service: string): string => `${service}.${key.namespace}.svc`;
  return {
    observedGeneration: generation,
    ...(settledRollout === undefined ? {} : { settledRollout }),
    phase: phaseOf(facts, judgements),
    ...(primary === undefined ? {} : { primary }),
    epoch: snapshot.lease?.epoch ?? before?.epoch ?? 0,
    readyReplicas: ready,
    inSyncReplicas: inSync,
    readySummary: `${ready}/${spec.replicas}`,
    syncSummary: `${inSync}/${Math.max(0, spec.replicas - 1)}`,
    replicas: [...replicas],
    endpoint: {
      orders: `${hostOf(names.primaryService)}:${ports.orders}`,
      feed: `${hostOf(names.standbyService)}:${ports.feed}`,
    },
    image: imageOf(snapshot, replicas),
    ...(lastFailover === undefined ? {} : { lastFailover }),
    ...(lastUpdate === undefined ? {} : { lastUpdate }),
    conditions: dateConditions(judgements, before?.conditions, generation, input.wall),
  };
}

/** Ready, and nothing is on its way any more. */
const isSettled = (judgements: readonly Judgement[]): boolean =>
  judgements.some(({ type, status }) => type === "Ready" && status === "True") &&
  judgements.some(({ type, status, reason }) => type === "Progressing" && status === "False" && reason === "Complete");

function imageOf(
  { spec, replicas: views }: EngineSnapshot,
  replicas: readonly ReplicaStatus[],
): NonNullable<TradingEngineStatus["image"]> {
  const current = replicas.find(({ role }) => role === "Primary")?.image;
  const updated = views.filter(({ pod }) => pod?.image === spec.image && !pod.outdated).length;
  return {
    ...(current === undefined ? {} : { current }),
    target: spec.image,
    progress: `${updated}/${spec.replicas}`,
  };
}

function lastUpdateOf({ shape }: EngineSnapshot): LastUpdate | undefined {
  if (shape === undefined) return undefined;
  const { time, result, durationMs, changes, reason, message } = shape;
  return {
    time,
    result,
    durationMs: Math.round(durationMs),
    changes: { ...changes },
    reason,
    ...(message === undefined ? {} : { message: message.slice(0, 4096) }),
  };
}
