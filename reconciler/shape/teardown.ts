/**
 * Takes a deleted engine down in order: first the replicas, each with its time to hand over and to close its journal;
 * then what they need; the volumes as the policy says; last what the engine is remembered by. It is a series of short
 * passes, each of which looks anew, so that it can be broken off anywhere and go on in another replica.
 */
import { childNames, labels } from "../../api/names.ts";
import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import {
  isNotFound,
  type KubeClient,
  type KubeObject,
  leases,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
  secrets,
  statefulSets,
} from "../kube/index.ts";
import { childResources } from "./childWatch.ts";
import { removeFinalizer } from "./finalizer.ts";
import { ordinalOfClaim } from "./observedVolumes.ts";

export type TeardownClient = Pick<KubeClient, "get" | "list" | "delete" | "patch">;

export type TeardownProgress =
  /** Nothing is left but what the policy keeps, and the finalizer is gone. */
  | { readonly kind: "done" }
  /** Replicas are still going down: look again shortly. `overdue` once they had all their time. */
  | { readonly kind: "waiting"; readonly pods: readonly string[]; readonly overdue: boolean };

/** One pass. Throws an ApiError when the API server does, to be tried again. */
export const tearDown = async (client: TeardownClient, engine: TradingEngine, now: Date): Promise<TeardownProgress> => {
  const { metadata, spec } = engine;
  const overdue = isOverdue(engine, now);
  // A set that is not this engine's was orphaned on purpose (`--cascade=orphan`), so its replicas go on without us.
  const orphaned = (await deleteOwned(client, engine, statefulSets)).foreign > 0;
  const running = orphaned ? [] : await replicaPods(client, engine);
  if (running.length > 0) {
    await Promise.all(running.map((pod) => deletePod(client, pod, overdue)));
    return { kind: "waiting", pods: running.map((pod) => pod.metadata.name), overdue };
  }

  // The state goes with the finalizer: a pass that dies in between must still know the control token.
  const last = childNames(metadata.name).stackState;
  for (const resource of childResources) {
    if (resource !== persistentVolumeClaims) await deleteOwned(client, engine, resource, last);
  }
  if (spec.deletionPolicy.volumes === "Delete") await deleteVolumes(client, engine);
  await deleteIfThere(client, leases, metadata.namespace, childNames(metadata.name).lease);
  await deleteIfThere(client, secrets, metadata.namespace, last);
  await removeFinalizer(client, metadata);
  return { kind: "done" };
};

const isOverdue = ({ metadata, spec }: TradingEngine, now: Date): boolean =>
  now.getTime() - Date.parse(metadata.deletionTimestamp ?? "") > spec.deletionPolicy.deadlineSeconds * 1000;

const selection = ({ metadata }: TradingEngine) => ({
  namespace: metadata.namespace,
  labelSelector: `${labels.engine}=${metadata.name}`,
});

const replicaPods = async (client: TeardownClient, engine: TradingEngine): Promise<readonly Pod[]> =>
  (await client.list(pods, selection(engine))).items;

/** In its own time as long as there is some; by force after that, because its node may be gone. */
const deletePod = async (client: TeardownClient, pod: Pod, force: boolean): Promise<void> => {
  const { namespace, name, uid, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined && !force) return;
  await ignoringNotFound(
    client.delete(pods, { namespace, name }, { uid, ...(force ? { gracePeriodSeconds: 0 } : {}) }),
  );
};

/**
 * Deletes the engine's own objects of one kind: those that name this very engine, by its uid, as their owner. Tells how
 * many others carry its label.
 */
const deleteOwned = async (
  client: TeardownClient,
  engine: TradingEngine,
  resource: Resource<KubeObject>,
  except?: string,
): Promise<{ readonly foreign: number }> => {
  const { items } = await client.list(resource, selection(engine));
  const owned = items.filter((object) => isOwned(object, engine));
  await Promise.all(
    owned
      .filter(({ metadata }) => metadata.name !== except && metadata.deletionTimestamp === undefined)
      .map((object) => deleteObject(client, resource, object)),
  );
  return { foreign: items.length - owned.length };
};

const isOwned = ({ metadata }: KubeObject, engine: TradingEngine): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === engine.metadata.uid) ?? false;

/** Volumes have no owner, so that they can outlive one: they are known by their names. */
const deleteVolumes = async (client: TeardownClient, engine: TradingEngine): Promise<void> => {
  const { items } = await client.list(persistentVolumeClaims, selection(engine));
  const ours = items.filter(({ metadata }) => ordinalOfClaim(engine.metadata.name, metadata.name) !== undefined);
  await Promise.all(ours.map((claim) => deleteObject(client, persistentVolumeClaims, claim)));
};

const deleteObject = (
  client: TeardownClient,
  resource: Resource<KubeObject>,
  { metadata }: KubeObject,
): Promise<void> =>
  ignoringNotFound(
    client.delete(
      resource,
      { ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }), name: metadata.name },
      { uid: metadata.uid, propagationPolicy: "Background" },
    ),
  );

const deleteIfThere = (
  client: TeardownClient,
  resource: Resource<KubeObject>,
  namespace: string,
  name: string,
): Promise<void> => ignoringNotFound(client.delete(resource, { namespace, name }));

const ignoringNotFound = async (call: Promise<void>): Promise<void> => {
  try {
    await call;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
};
