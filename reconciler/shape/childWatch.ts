/** A local copy of all engines' children, so that a look at an engine costs no request, and word of every change. */
import { fieldManagers, labels } from "../../api/names.ts";
import {
  type Clock,
  configMaps,
  createInformer,
  type Informer,
  type KubeClient,
  type KubeLogger,
  type KubeMetrics,
  type KubeObject,
  keyOf,
  networkPolicies,
  persistentVolumeClaims,
  podDisruptionBudgets,
  type Resource,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from "../kube/index.ts";
import { contentHash } from "./contentHash.ts";
import { ownFields } from "./ownFields.ts";
import type { EngineKey } from "./shapeResult.ts";

/** Every kind that an engine is made of, the one that runs it first. */
export const childResources: readonly Resource<KubeObject>[] = [
  statefulSets,
  services,
  persistentVolumeClaims,
  configMaps,
  secrets,
  serviceAccounts,
  podDisruptionBudgets,
  networkPolicies,
];

/** One child of an engine. */
export interface Child {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
}

export interface ChildWatch {
  start(signal: AbortSignal): void;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** All objects that carry the engine's label, whoever made them. */
  childrenOf(key: EngineKey): readonly Child[];
}

export interface ChildWatchOptions {
  readonly client: KubeClient;
  readonly namespaces: readonly string[];
  readonly clock: Clock;
  readonly logger: KubeLogger;
  readonly metrics?: KubeMetrics;
  /** A child of this engine came, went or changed in a field that is ours. */
  readonly onChange: (key: EngineKey) => void;
}

const byEngine = "engine";

export const watchChildren = (options: ChildWatchOptions): ChildWatch => {
  const watches = options.namespaces.flatMap((namespace) =>
    childResources.map((resource) => {
      const informer = createInformer({
        client: options.client,
        resource,
        namespace,
        labelSelector: labels.engine,
        indexers: { [byEngine]: (object: KubeObject) => engineKeysOf(object) },
        clock: options.clock,
        logger: options.logger,
        name: `shape_${resource.plural}`,
        ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
      });
      follow(informer, options.onChange);
      return { resource, informer };
    }),
  );
  return {
    start: (signal) => {
      for (const { informer } of watches) informer.start(signal);
    },
    whenSynced: async (signal) => {
      await Promise.all(watches.map(({ informer }) => informer.whenSynced(signal)));
    },
    childrenOf: (key) =>
      watches.flatMap(({ resource, informer }) =>
        informer.store.byIndex(byEngine, key).map((object) => ({ resource, object })),
      ),
  };
};

/** Most changes are status, written by controllers all the time: they must not even wake anybody. */
const follow = (informer: Informer<KubeObject>, onChange: (key: EngineKey) => void): void => {
  informer.onChange((change) => {
    if (change.type === "added" && change.initial) return;
    if (change.type === "updated" && hashOfOwn(change.old) === hashOfOwn(change.object)) return;
    for (const key of engineKeysOf(change.object)) onChange(key);
  });
};

const engineKeysOf = ({ metadata }: KubeObject): readonly EngineKey[] => {
  const engine = metadata.labels?.[labels.engine];
  return engine === undefined ? [] : [keyOf(metadata.namespace, engine)];
};

/** `Kind/name`, the name of a child in records and messages. */
export const childId = (resource: Resource<KubeObject>, name: string): string => `${resource.kind}/${name}`;

/** Objects from a store never change, and are looked at far more often than they come. */
const hashes = new WeakMap<KubeObject, string>();

/** Hash of the fields that the shape lane applied; empty when it applied none, so that the object is none of ours. */
export const hashOfOwn = (object: KubeObject): string => {
  const known = hashes.get(object);
  if (known !== undefined) return known;
  const own = ownFields(object, fieldManagers.shape);
  const hash = own === undefined ? "" : contentHash(own);
  hashes.set(object, hash);
  return hash;
};

/** The hash of each child that is ours, by {@link childId}. */
export const hashesOf = (children: readonly Child[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    children.flatMap(({ resource, object }) => {
      const hash = hashOfOwn(object);
      return hash === "" ? [] : [[childId(resource, object.metadata.name), hash] as const];
    }),
  );
