/** One `up` for one engine, from the first outside effect to the stored state. */
import { apiVersion, childNames, tradingEngineKind } from "../../api/names.ts";
import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import {
  type Clock,
  type DeleteOptions,
  isNotFound,
  type KubeClient,
  type NamespacedObject,
  type OwnerReference,
  persistentVolumeClaims,
  type Resource,
  sleep,
  statefulSets,
} from "../kube/index.ts";
import { foreignChildren } from "./adoption.ts";
import { cleanCheckpoint, emptyCheckpoint, parseCheckpoint } from "./checkpoint.ts";
import { controlTokenOf, type RandomBytes } from "./controlToken.ts";
import { addFinalizer } from "./finalizer.ts";
import type { ShapeEvents } from "./shapeEvents.ts";
import type { ShapeReason } from "./shapeResult.ts";
import { stackNameOf } from "./stackName.ts";
import type { NewState, StateStore, StoredState } from "./stateStore.ts";
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
  /** To be stored, with a new record where the run succeeded; absent when nothing was begun. */
  readonly next?: NewState;
}

/** How long a claim without a volume, or a set without its pods, may take to go. */
const goneMs = 10_000;
const pollMs = 200;

/** Runs `up`; a failure of the run is in the outcome, while one of the API server is thrown as an ApiError. */
export const runShape = async (runner: ShapeRunner, request: ShapeRunRequest): Promise<ShapeRunOutcome> => {
  const { client, clock } = runner;
  const { engine, wanted, stored } = request;
  const { namespace, name } = engine.metadata;
  const startedAt = clock.now();
  const elapsed = () => Math.round(clock.now() - startedAt);
  // Once a run has succeeded the names are taken, and whatever has them is ours to correct.
  const foreign = stored.record === undefined ? await foreignChildren(client, engine) : [];
  if (foreign.length > 0) return { outcome: inTheWay(foreign), durationMs: elapsed() };
  // Before anything exists that would have to be cleaned up.
  await addFinalizer(client, engine.metadata);
  const token = await controlTokenOf(client, engine.metadata, stored.token, runner.random);
  const stack = stackNameOf(namespace, name);
  const before = stored.checkpoint ?? emptyCheckpoint(stack);
  const outcome =
    (await deleteObsolete(runner, request)) ??
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
    durationMs: elapsed(),
    next: {
      checkpoint: outcome.checkpoint === undefined ? before : cleanCheckpoint(parseCheckpoint(outcome.checkpoint)),
      token,
      ...(stored.record === undefined ? {} : { record: stored.record }),
    },
  };
};

const inTheWay = (foreign: readonly string[]): JobOutcome => ({
  ...nothingRun,
  result: "failed",
  message:
    `not of this engine, but in the place of its children: ${foreign.join(", ")}; ` +
    "remove what is in the way, or choose another name for the engine",
});

/** The owner of what the lane writes beside the children. */
export const ownerReferenceOf = ({ metadata }: TradingEngine): OwnerReference => ({
  apiVersion,
  kind: tradingEngineKind,
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** Deletes what must be made anew: it cannot be applied before it is gone. A failure when something does not go. */
const deleteObsolete = async (runner: ShapeRunner, request: ShapeRunRequest): Promise<JobOutcome | undefined> => {
  const { obsoleteClaims, obsoleteSet } = request.wanted;
  const set = childNames(request.engine.metadata.name).statefulSet;
  if (obsoleteSet && !(await deleteAndWait(runner, request, statefulSets, set, { propagationPolicy: "Orphan" })))
    return stillThere([set]);
  const gone = await Promise.all(
    obsoleteClaims.map(({ name, uid }) => {
      runner.events.volumeReplaced(request.engine, name);
      return deleteAndWait(runner, request, persistentVolumeClaims, name, { uid });
    }),
  );
  const left = obsoleteClaims.filter((_, index) => gone[index] === false);
  return left.length === 0 ? undefined : stillThere(left.map(({ name }) => name));
};

const stillThere = (names: readonly string[]): JobOutcome => ({
  ...nothingRun,
  result: "failed",
  message: `${names.join(", ")} must be made anew and is still there ${goneMs / 1000} s after it was deleted: a pod may use it`,
});

/** @returns whether the object, or the one with the uid that was given, is gone in time. */
const deleteAndWait = async <T extends NamespacedObject>(
  { client, clock }: ShapeRunner,
  { engine, signal }: ShapeRunRequest,
  resource: Resource<T>,
  name: string,
  options: Pick<DeleteOptions, "uid" | "propagationPolicy">,
): Promise<boolean> => {
  const ref = { namespace: engine.metadata.namespace, name };
  const deadline = clock.now() + goneMs;
  try {
    const { uid } = (await client.get(resource, ref)).metadata;
    await client.delete(resource, ref, { uid, ...options });
    while (!signal.aborted && clock.now() < deadline) {
      const { metadata } = await client.get(resource, ref);
      if (metadata.uid !== uid) return true;
      await sleep(clock, pollMs, signal);
    }
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
};
