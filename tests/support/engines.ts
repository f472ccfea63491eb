import { type annotations, labels } from "../../api/names.ts";
import type {
  Condition,
  ConditionType,
  TradingEngineSpec,
  TradingEngineSpecInput,
  TradingEngineStatus,
} from "../../api/tradingEngine/index.ts";
import type { Draft, KubeClient, NamespacedObject } from "../../reconciler/kube/index.ts";
import { defineResource, isNotFound, persistentVolumeClaims } from "../../reconciler/kube/index.ts";
import { tradingEngines as storedEngines } from "../../reconciler/tradingEngine/index.ts";
import { waitFor } from "./waitFor.ts";

/** A TradingEngine as the API server stores it. */
export interface TradingEngineObject extends NamespacedObject {
  readonly spec: TradingEngineSpec;
  readonly status?: TradingEngineStatus;
}

export const tradingEngines = defineResource<TradingEngineObject>(storedEngines);

/** Names one engine of a cluster. */
export interface EngineRef {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly engine: string;
}

const refOf = ({ namespace, engine }: EngineRef) => ({ namespace, name: engine });

const fieldManager = "enginekeeper-test";

export const getEngine = (ref: EngineRef): Promise<TradingEngineObject> => ref.client.get(tradingEngines, refOf(ref));

/** Creates the engine or changes its spec to `spec`. */
export const applyEngine = (ref: EngineRef, spec: TradingEngineSpecInput): Promise<TradingEngineObject> =>
  ref.client.apply(
    tradingEngines,
    { metadata: refOf(ref), spec: spec as Draft<TradingEngineObject>["spec"] & object },
    { manager: fieldManager, force: true },
  );

/** Changes some fields of the spec. */
export const patchSpec = (ref: EngineRef, spec: unknown): Promise<TradingEngineObject> =>
  ref.client.patch(tradingEngines, refOf(ref), { spec }, { type: "merge", manager: fieldManager });

/** Sets annotations; null removes one. */
export const annotateEngine = (
  ref: EngineRef,
  changes: Readonly<Partial<Record<(typeof annotations)[keyof typeof annotations], string | null>>>,
): Promise<TradingEngineObject> =>
  ref.client.patch(
    tradingEngines,
    refOf(ref),
    { metadata: { annotations: changes } },
    { type: "merge", manager: fieldManager },
  );

export const conditionOf = (engine: TradingEngineObject, type: ConditionType): Condition | undefined =>
  engine.status?.conditions?.find((condition) => condition.type === type);

/** Trading, redundant, and all of it about the present spec. */
export function isSettled(engine: TradingEngineObject): boolean {
  const { status, spec, metadata } = engine;
  const ready = conditionOf(engine, "Ready");
  const progressing = conditionOf(engine, "Progressing");
  return (
    ready?.status === "True" &&
    progressing?.status === "False" &&
    status?.observedGeneration === metadata.generation &&
    status?.readyReplicas === spec.replicas &&
    (status.primary ?? "") !== ""
  );
}

/** What a person wants to know of an engine that does not do what was expected. */
export function describeEngine(engine: TradingEngineObject): unknown {
  const { status, metadata } = engine;
  return {
    generation: `${status?.observedGeneration ?? 0} of ${metadata.generation ?? 0}`,
    phase: status?.phase,
    primary: status?.primary,
    epoch: status?.epoch,
    ready: status?.readySummary,
    conditions: status?.conditions?.map(
      ({ type, status: is, reason, message }) => `${type}=${is} ${reason}: ${message}`,
    ),
    lastUpdate: status?.lastUpdate,
    replicas: status?.replicas?.map(({ name, role, ready, message }) => `${name} ${role} ${ready} ${message ?? ""}`),
  };
}

export interface EngineWait {
  readonly what: string;
  readonly deadlineMs: number;
  until(engine: TradingEngineObject): boolean;
}

/** Waits until the engine is as `until` wants it, and answers it so. */
export const waitForEngine = (ref: EngineRef, wait: EngineWait): Promise<TradingEngineObject> =>
  waitFor({ ...wait, what: `${ref.engine}: ${wait.what}`, look: () => getEngine(ref), describe: describeEngine });

export const waitUntilSettled = (ref: EngineRef, deadlineMs: number): Promise<TradingEngineObject> =>
  waitForEngine(ref, { what: "trading with every replica ready", deadlineMs, until: isSettled });

/** Deletes the engine and waits until it is gone. */
export async function deleteEngine(ref: EngineRef, deadlineMs: number): Promise<void> {
  await ref.client.delete(tradingEngines, refOf(ref)).catch(unlessNotFound);
  await waitFor({
    what: `${ref.engine} to be gone`,
    deadlineMs,
    look: () => getEngine(ref).catch(unlessNotFound),
    until: (engine) => engine === undefined,
    describe: (engine) => engine?.metadata.finalizers ?? "gone",
  });
}

/** Deletes the volume claims that a deleted engine left behind, and waits until they are gone. */
export async function deleteVolumes({ client, namespace, engine }: EngineRef): Promise<void> {
  const claims = { namespace, labelSelector: `${labels.engine}=${engine}` };
  await waitFor({
    what: `the volume claims of ${engine} to be gone`,
    deadlineMs: 60_000,
    look: async () => {
      const { items } = await client.list(persistentVolumeClaims, claims);
      for (const { metadata } of items) {
        if (metadata.deletionTimestamp !== undefined) continue;
        await client.delete(persistentVolumeClaims, { namespace, name: metadata.name }).catch(unlessNotFound);
      }
      return items.map(({ metadata }) => metadata.name);
    },
    until: (names) => names.length === 0,
  });
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}
