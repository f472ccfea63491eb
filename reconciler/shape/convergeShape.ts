/** One pass over one engine: look, decide, and run `up` only when something is not as it should be. */
import { fieldManagers } from "../../api/names.ts";
import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import { isNotFound, type KubeClient, type KubeObject, keyOf, refOfKey } from "../kube/index.ts";
import { recordedEpoch } from "./checkpoint.ts";
import { type ChildWatch, childResources, hashesOf, hashOfOwn } from "./childWatch.ts";
import { describeDrift } from "./driftReport.ts";
import { omit } from "./omit.ts";
import { ownedFieldsHash } from "./ownFields.ts";
import { decideShape, type ShapeDecision, type ShapeSnapshot } from "./shapeDecision.ts";
import type { ShapeMemory } from "./shapeMemory.ts";
import type { ChildDrift, EngineKey, ShapeReason, ShapeResult } from "./shapeResult.ts";
import { ownerReferenceOf, runShape, type ShapeRunner, type ShapeRunRequest } from "./shapeRun.ts";
import type { StoredState } from "./stateStore.ts";
import { type ProgramContext, wantedShape } from "./wantedShape.ts";
import type { AppliedChild } from "./worker/protocol.ts";

export interface ConvergeContext extends ShapeRunner {
  readonly children: Pick<ChildWatch, "childrenOf">;
  readonly memory: ShapeMemory;
  readonly program: ProgramContext;
}

/**
 * Throws an ApiError when the API server fails: to be tried again.
 * @returns the result of the engine's last run, with the generation that it is good for.
 */
export const convergeShape = async (
  context: ConvergeContext,
  engine: TradingEngine,
  reason: ShapeReason,
  signal: AbortSignal,
): Promise<ShapeResult | undefined> => {
  const { metadata, spec } = engine;
  const key = keyOf(metadata.namespace, metadata.name);
  const stored = await storedState(context, engine);
  const children = context.children.childrenOf(key);
  const wanted = wantedShape(engine, children, context.program);
  const last = context.memory.result(key) ?? stored.record?.result;
  const snapshot: ShapeSnapshot = {
    reason,
    paused: spec.paused,
    driftPolicy: spec.drift.policy,
    wanted: wanted.hash,
    record: stored.record,
    hasState: stored.checkpoint !== undefined,
    observed: hashesOf(children),
    lastRunFailed: last !== undefined && last.result !== "succeeded",
    epoch: engine.status?.epoch ?? 0,
    recordedEpoch: recordedEpoch(stored.checkpoint),
  };
  const { decision, drift } = await decideOnFacts(context.client, metadata.namespace, snapshot);
  switch (decision.kind) {
    case "nothing":
      return last === undefined || decision.why === "Paused" ? last : settled(last, metadata.generation, []);
    case "report":
      context.events.driftDetected(engine, drift, false);
      return last === undefined ? last : settled(last, metadata.generation, drift);
    case "run":
      if (drift.length > 0) context.events.driftDetected(engine, drift, true);
      return await run(
        context,
        { engine, reason: decision.reason, wanted, refresh: decision.refresh, stored, signal },
        drift,
      );
  }
};

const run = async (
  context: ConvergeContext,
  request: ShapeRunRequest,
  drift: readonly ChildDrift[],
): Promise<ShapeResult> => {
  const { memory, store, events } = context;
  const { engine, wanted, stored } = request;
  const { namespace, name, generation } = engine.metadata;
  const key = keyOf(namespace, name);
  // Until the new state is stored nobody knows what is there.
  memory.doubtState(key);
  const { outcome, durationMs, next } = await runShape(context, request);
  const result: ShapeResult = {
    time: context.clock.wall().toISOString(),
    result: outcome.result,
    reason: request.reason,
    durationMs,
    changes: outcome.changes,
    ...(outcome.message === undefined ? {} : { message: outcome.message }),
    generation,
  };
  if (next !== undefined) {
    const children = outcome.result === "succeeded" ? await hashesAfterRun(context, key, outcome.applied) : undefined;
    const record = children === undefined ? {} : { record: { wanted: wanted.hash, children, result } };
    const owner = { namespace, engine: name, owner: ownerReferenceOf(engine) };
    memory.keepState(key, await store.save(owner, { ...next, ...record }, stored));
  }
  if (outcome.result !== "succeeded") {
    events.updateFailed(engine, outcome.result === "refused", outcome.message ?? "the update failed");
  } else if (drift.length > 0) events.driftCorrected(engine, drift, durationMs);
  return result;
};

/**
 * What all children are after a run, the base that drift is measured by from now on: those that the run wrote are read
 * anew, the others are as the local copy has them. One that somebody changed between the run's write and this look gets
 * a hash that no object has, so that the next look finds it drifted.
 */
const hashesAfterRun = async (
  { client, children }: ConvergeContext,
  key: EngineKey,
  applied: readonly AppliedChild[],
): Promise<Readonly<Record<string, string>>> => {
  const { namespace = "" } = refOfKey(key);
  const hashes: Record<string, string> = { ...hashesOf(children.childrenOf(key)) };
  await Promise.all(
    applied.map(async ({ kind, name, owned }) => {
      const fact = await readChild(client, namespace, `${kind}/${name}`);
      const untouched = fact.object !== undefined && ownedFieldsHash(fact.object, fieldManagers.shape) === owned;
      hashes[fact.child] = untouched ? fact.hash : touched;
    }),
  );
  return hashes;
};

const touched = "touched";

/** A result stands for a newer generation, too, when that needed no run. */
const settled = (last: ShapeResult, generation: number, drift: readonly ChildDrift[]): ShapeResult => ({
  ...omit(last, "reportedDrift"),
  generation,
  ...(drift.length === 0 ? {} : { reportedDrift: drift }),
});

const storedState = async ({ memory, store, events }: ConvergeContext, engine: TradingEngine): Promise<StoredState> => {
  const { namespace, name } = engine.metadata;
  const key = keyOf(namespace, name);
  const known = memory.state(key);
  if (known !== undefined) return known;
  const loaded = await store.load(namespace, name);
  if (loaded.unreadable !== undefined)
    events.stateLost(engine, `the stored state cannot be read: ${loaded.unreadable}`);
  memory.keepState(key, loaded);
  return loaded;
};

/**
 * The local copy may be behind by a moment, above all just after a run of our own: what seems to have drifted is read
 * from the API server before anybody acts on it.
 */
const decideOnFacts = async (
  client: Pick<KubeClient, "get">,
  namespace: string,
  snapshot: ShapeSnapshot,
): Promise<{ readonly decision: ShapeDecision; readonly drift: readonly ChildDrift[] }> => {
  const first = decideShape(snapshot);
  if (first.kind === "nothing" || first.drifted.length === 0) return { decision: first, drift: [] };
  const facts = await Promise.all(first.drifted.map((child) => readChild(client, namespace, child)));
  const observed = { ...snapshot.observed };
  for (const { child, hash } of facts) observed[child] = hash;
  const decision = decideShape({ ...snapshot, observed });
  const drifted = decision.kind === "nothing" ? [] : decision.drifted;
  return {
    decision,
    drift: facts
      .filter(({ child }) => drifted.includes(child))
      .map(({ child, object }) => describeDrift(child, object)),
  };
};

interface ChildFact {
  readonly child: string;
  readonly object: KubeObject | undefined;
  /** Empty when it is gone or none of it is ours: no child that a run left has that. */
  readonly hash: string;
}

/** A child by its id, from the API server. */
const readChild = async (client: Pick<KubeClient, "get">, namespace: string, child: string): Promise<ChildFact> => {
  const slash = child.indexOf("/");
  const resource = childResources.find(({ kind }) => kind === child.slice(0, slash));
  if (resource === undefined) return { child, object: undefined, hash: "" };
  try {
    const object = await client.get(resource, { namespace, name: child.slice(slash + 1) });
    return { child, object, hash: hashOfOwn(object) };
  } catch (error) {
    if (isNotFound(error)) return { child, object: undefined, hash: "" };
    throw error;
  }
};
