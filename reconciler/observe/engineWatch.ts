/** The informers that the role lane sees the cluster by, indexed by engine. */
import { childNames, labels } from "../../api/names.ts";
import {
  type Change,
  createInformer,
  type Informer,
  type KubeClient,
  type KubeLogger,
  type KubeMetrics,
  type KubeObject,
  keyOf,
  type Lease,
  leases,
  type NamespacedObject,
  type Node,
  nodes,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
  type StatefulSet,
  type StorageClass,
  statefulSets,
  storageClasses,
} from "../kube/index.ts";
import { tradingEngines } from "../tradingEngine/index.ts";

export interface EngineWatchOptions {
  readonly client: KubeClient;
  readonly namespaces: readonly string[];
  readonly logger: KubeLogger;
  readonly metrics: KubeMetrics;
  /** Something about this engine changed; `namespace/name`. */
  readonly onChange: (key: string) => void;
}

/** Local copies of everything that decides about an engine. Keys are `namespace/name` of the TradingEngine. */
export interface EngineWatch {
  start(signal: AbortSignal): void;
  whenSynced(signal: AbortSignal): Promise<void>;
  hasSynced(): boolean;
  keys(): readonly string[];
  engine(key: string): NamespacedObject | undefined;
  /** Calls `handler` for each TradingEngine that is there and each later change. Returns the way to end it. */
  onEngineChange(handler: (change: Change<NamespacedObject>) => void): () => void;
  pods(key: string): readonly Pod[];
  lease(key: string): Lease | undefined;
  statefulSet(key: string): StatefulSet | undefined;
  claims(key: string): readonly PersistentVolumeClaim[];
  storageClasses(): readonly StorageClass[];
  node(name: string): Node | undefined;
}

const byEngine = "engine";

export function watchEngines(options: EngineWatchOptions): EngineWatch {
  const { namespaces, onChange } = options;
  const common = {
    client: options.client,
    logger: options.logger,
    metrics: options.metrics,
    withoutManagedFields: true,
  };
  const perNamespace = <T extends KubeObject>(resource: Resource<T>, labelSelector?: string): Family<T> =>
    new Family(
      namespaces.map((namespace) =>
        createInformer({
          ...common,
          resource,
          namespace,
          name: `role_${resource.plural}`,
          indexers: { [byEngine]: engineKeysOf },
          ...(labelSelector === undefined ? {} : { labelSelector }),
        }),
      ),
    );

  const engineFamily = perNamespace(tradingEngines);
  const podFamily = perNamespace(pods, labels.engine);
  const leaseFamily = perNamespace(leases, labels.engine);
  const setFamily = perNamespace(statefulSets, labels.engine);
  const claimFamily = perNamespace(persistentVolumeClaims, labels.engine);
  const nodeFamily = new Family([createInformer({ ...common, resource: nodes, name: "role_nodes" })]);
  const classFamily = new Family([
    createInformer({
      ...common,
      resource: storageClasses,
      name: "role_storageclasses",
    }),
  ]);

  const wakeAll = (): void => {
    for (const object of engineFamily.list()) onChange(keyOf(object.metadata.namespace, object.metadata.name));
  };
  engineFamily.onChange((object) => onChange(keyOf(object.metadata.namespace, object.metadata.name)));
  for (const family of [podFamily, leaseFamily, setFamily, claimFamily])
    family.onChange((object) => {
      for (const key of engineKeysOf(object)) onChange(key);
    });
  // Nodes report every few seconds; only what is read of them may wake anybody.
  nodeFamily.onChange(wakeAll, (old, node) => old.spec?.unschedulable !== node.spec?.unschedulable);
  classFamily.onChange(wakeAll);

  const families = [engineFamily, podFamily, leaseFamily, setFamily, claimFamily, nodeFamily, classFamily];
  return {
    start: (signal) => {
      for (const family of families) family.start(signal);
    },
    whenSynced: async (signal) => {
      await Promise.all(families.map((family) => family.whenSynced(signal)));
    },
    hasSynced: () => families.every((family) => family.hasSynced()),
    keys: () => engineFamily.list().map(({ metadata }) => keyOf(metadata.namespace, metadata.name)),
    engine: (key) => engineFamily.byKey(key),
    onEngineChange: (handler) => engineFamily.follow(handler),
    pods: (key) => podFamily.byIndex(key),
    lease: (key) => leaseFamily.byKey(childKey(key, (name) => childNames(name).lease)),
    statefulSet: (key) => setFamily.byKey(childKey(key, (name) => childNames(name).statefulSet)),
    claims: (key) => claimFamily.byIndex(key),
    storageClasses: () => classFamily.list(),
    node: (name) => nodeFamily.byKey(name),
  };
}

function engineKeysOf({ metadata }: KubeObject): readonly string[] {
  const engine = metadata.labels?.[labels.engine];
  return engine === undefined ? [] : [keyOf(metadata.namespace, engine)];
}

function childKey(key: string, childOf: (engine: string) => string): string {
  const slash = key.indexOf("/");
  return keyOf(key.slice(0, slash), childOf(key.slice(slash + 1)));
}

/** One informer for each watched namespace, read as one. */
class Family<T extends KubeObject> {
  readonly #informers: readonly Informer<T>[];

  constructor(informers: readonly Informer<T>[]) {
    this.#informers = informers;
  }

  start(signal: AbortSignal): void {
    for (const informer of this.#informers) informer.start(signal);
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.whenSynced(signal)));
  }

  hasSynced(): boolean {
    return this.#informers.every((informer) => informer.hasSynced());
  }

  /** @param matters whether an update is worth a call; every change is, by default. */
  onChange(handler: (object: T) => void, matters: (old: T, object: T) => boolean = () => true): void {
    for (const informer of this.#informers)
      informer.onChange((change) => {
        if (change.type !== "updated" || matters(change.old, change.object)) handler(change.object);
      });
  }

  follow(handler: (change: Change<T>) => void): () => void {
    const ends = this.#informers.map((informer) => informer.onChange(handler));
    return () => {
      for (const end of ends) end();
    };
  }

  list(): readonly T[] {
    return this.#informers.flatMap(({ store }) => store.list());
  }

  byKey(key: string): T | undefined {
    for (const { store } of this.#informers) {
      const found = store.byKey(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  byIndex(key: string): readonly T[] {
    return this.#informers.flatMap(({ store }) => store.byIndex(byEngine, key));
  }
}
