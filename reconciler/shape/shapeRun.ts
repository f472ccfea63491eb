/** One `up` for one engine, from the first outside effect to the stored state. */
import { apiVersion, tradingEngineKind } from "../../api/names.ts";
import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import {
  type Clock,
  isNotFound,
  type KubeClient,
  type OwnerReference,
  persistentVolumeClaims,
  sleep,
} from "../kube/index.ts";
import { cleanCheckpoint, emptyCheckpoint, parseCheckpoint } from "./checkpoint.ts";
import { controlTokenOf, type RandomBytes } from "./controlToken.ts";
import { addFinalizer } from "./finalizer.ts";
import type { ShapeEvents } from "./shapeEvents.ts";
import type { ShapeReason } from "./shapeResult.ts";
import { stackNameOf } from "./stackName.ts";
import type { NewState, StateStore, StoredState } from "./stateStore.ts";
import type { ObservedClaim } from "./volumePlan.ts";
import type { WantedShape } from "./wantedShape.ts";
import { type JobOutcome, nothingRun, type WorkerPool } from "./worker/workerPool.ts";

export interface ShapeRunner {
  readonly client: Pick<KubeClient, "get" | "patch" | "delete">;
  readonly store: StateStore;
  readonly pool: Pick<WorkerPool, "run">;
  readonly events: ShapeEvents;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

export interface ShapeRunRequest {
  readonly engine: TradingEngine;
  readonly reason: ShapeReason;
  readonly wanted: WantedShape;
  readonly refresh: boolean;
  readonly stored: StoredState;
  readonly signal: AbortSignal;
}

export interface ShapeRunOutcome {
  readonly outcome: JobOutcome;
  readonly durationMs: number;
  /** To be stored, with a record where the run succeeded. */
  readonly next: NewState;
}

/** How long a claim without a volume may take to go. */
const claimGoneMs = 10_000;
const pollMs = 200;

/** Runs `up`; a failure of the run is in the outcome, while one of the API server is thrown as an ApiError. */
export const runShape = async (runner: ShapeRunner, request: ShapeRunRequest): Promise<ShapeRunOutcome> => {
  const { client, clock } = runner;
  const { engine, wanted, stored } = request;
  const { namespace, name } = engine.metadata;
  const startedAt = clock.now();
  // Before anything exists that would have to be cleaned up.
  await addFinalizer(client, engine.metadata);
  const token = await controlTokenOf(client, engine.metadata, stored.token, runner.random);
  const stack = stackNameOf(namespace, name);
  const before = stored.checkpoint ?? emptyCheckpoint(stack);
  const stuck = await deleteClaims(runner, request);
  const outcome =
    stuck ??
    (await runner.pool.run({
      stack,
      checkpoint: JSON.stringify(before),
      refresh: request.refresh || wanted.obsoleteClaims.length > 0,
      program: wanted.program,
      controlToken: token,
      leadership: { primary: engine.status?.primary ?? "", epoch: engine.status?.epoch ?? 0 },
    }));
  return {
    outcome,
    durationMs: Math.round(clock.now() - startedAt),
    next: {
      checkpoint: outcome.checkpoint === undefined ? before : cleanCheckpoint(parseCheckpoint(outcome.checkpoint)),
      token,
      ...(stored.record === undefined ? {} : { record: stored.record }),
    },
  };
};

/** The owner of what the lane writes beside the children. */
export const ownerReferenceOf = ({ metadata }: TradingEngine): OwnerReference => ({
  apiVersion,
  kind: tradingEngineKind,
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** Deletes the obsolete claims: they cannot be applied anew before they are gone. A failure when one does not go. */
const deleteClaims = async (runner: ShapeRunner, request: ShapeRunRequest): Promise<JobOutcome | undefined> => {
  const { obsoleteClaims } = request.wanted;
  const gone = await Promise.all(obsoleteClaims.map((claim) => deleteClaim(runner, request, claim)));
  const left = obsoleteClaims.filter((_, index) => gone[index] === false);
  if (left.length === 0) return undefined;
  const names = left.map(({ name }) => name).join(", ");
  return {
    ...nothingRun,
    result: "failed",
    message: `${names} must be made anew and is still there ${claimGoneMs / 1000} s after it was deleted: a pod may use it`,
  };
};

const deleteClaim = async (
  { client, clock, events }: ShapeRunner,
  { engine, signal }: ShapeRunRequest,
  claim: ObservedClaim,
): Promise<boolean> => {
  const ref = { namespace: engine.metadata.namespace, name: claim.name };
  const deadline = clock.now() + claimGoneMs;
  try {
    events.volumeReplaced(engine, claim.name);
    await client.delete(persistentVolumeClaims, ref, { uid: claim.uid });
    while (!signal.aborted && clock.now() < deadline) {
      const { metadata } = await client.get(persistentVolumeClaims, ref);
      if (metadata.uid !== claim.uid) return true;
      await sleep(clock, pollMs, signal);
    }
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
};
