/** Objects of the API server and status streams -> one snapshot. Pure. */
import { childNames } from "../../api/names.ts";
import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import type { StreamView } from "../contract/index.ts";
import type { Node, PersistentVolumeClaim, Pod, StatefulSet, StorageClass } from "../kube/index.ts";
import { viewPod } from "./podView.ts";
import type { EngineSnapshot, LeaseView, ReplicaView, ShapeView } from "./snapshot.ts";
import { viewPendingVolumes } from "./volumeView.ts";

/** Everything that is known of one engine. */
export interface EngineSources {
  readonly engine: TradingEngine;
  readonly pods: readonly Pod[];
  readonly lease: LeaseView | undefined;
  readonly statefulSet: StatefulSet | undefined;
  readonly claims: readonly PersistentVolumeClaim[];
  readonly storageClasses: readonly StorageClass[];
  readonly nodeOf: (name: string) => Node | undefined;
  /** By pod uid. */
  readonly streamOf: (uid: string) => StreamView | undefined;
  readonly shape: ShapeView | undefined;
  readonly lastStallFailoverAt: number | undefined;
}

export function assembleSnapshot(sources: EngineSources): EngineSnapshot {
  const { metadata, spec, status } = sources.engine;
  return {
    key: { namespace: metadata.namespace, name: metadata.name },
    uid: metadata.uid,
    generation: metadata.generation,
    deleting: metadata.deletionTimestamp !== undefined,
    annotations: metadata.annotations ?? {},
    spec,
    published: status,
    lease: sources.lease,
    replicas: replicasOf(sources),
    shape: sources.shape,
    applied: isApplied(sources),
    pendingVolumes: viewPendingVolumes(sources.claims, sources.storageClasses),
    lastStallFailoverAt: sources.lastStallFailoverAt,
  };
}

/** A place for each wanted replica, also without a pod, and one for each pod beyond them that is still there. */
function replicasOf({ engine, pods, statefulSet, nodeOf, streamOf }: EngineSources): readonly ReplicaView[] {
  const names = childNames(engine.metadata.name);
  const revision = settledRevision(statefulSet);
  const views = new Map<number, ReplicaView>();
  for (let ordinal = 0; ordinal < engine.spec.replicas; ordinal += 1)
    views.set(ordinal, { name: names.pod(ordinal), ordinal, pod: undefined, stream: undefined });
  for (const pod of pods) {
    const ordinal = ordinalOf(pod.metadata.name, engine.metadata.name);
    if (ordinal === undefined) continue;
    const node = pod.spec?.nodeName === undefined ? undefined : nodeOf(pod.spec.nodeName);
    const view = viewPod(pod, revision, node);
    views.set(ordinal, { name: view.name, ordinal, pod: view, stream: streamOf(view.uid) });
  }
  return [...views.values()].sort((a, b) => a.ordinal - b.ordinal);
}

function isApplied({ engine, shape, statefulSet }: EngineSources): boolean {
  const { generation } = engine.metadata;
  if (settledRevision(statefulSet) === undefined) return false;
  if (shape !== undefined) return shape.generation === generation && shape.result === "succeeded";
  // This process has not looked yet: what was published stands, or each restart would publish a doubt.
  const progress = engine.status?.conditions?.find(({ type }) => type === "Progressing");
  return progress?.reason === "Complete" && progress.observedGeneration === generation;
}

/** Undefined while the controller has not looked at the newest template: every pod would look up to date. */
function settledRevision(statefulSet: StatefulSet | undefined): string | undefined {
  if (statefulSet?.status?.observedGeneration !== statefulSet?.metadata.generation) return undefined;
  return statefulSet?.status?.updateRevision;
}

function ordinalOf(pod: string, engine: string): number | undefined {
  const ordinal = pod.startsWith(`${engine}-`) ? pod.slice(engine.length + 1) : "";
  return /^(0|[1-9][0-9]*)$/.test(ordinal) ? Number(ordinal) : undefined;
}
