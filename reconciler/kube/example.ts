/** An operator in one page: for each Pod it keeps a ConfigMap that says on which node the Pod runs. */
import {
  configMaps,
  createElector,
  createInformer,
  createWorkqueue,
  isNotFound,
  type KubeClient,
  type KubeLogger,
  objectKey,
  pods,
  refOfKey,
  runWorkers,
} from "./index.ts";

/** Campaigns for a lease, works while it leads, and resolves when that has ended. `identity` is the Pod's name. */
export const keepPlacements = async (
  client: KubeClient,
  { namespace, identity, logger }: { namespace: string; identity: string; logger: KubeLogger },
  signal: AbortSignal,
): Promise<"lost" | "stopped"> => {
  const informer = createInformer({ client, resource: pods, namespace, withoutManagedFields: true, logger });
  const queue = createWorkqueue<string>({ name: "placements" });
  informer.onChange(({ object }) => queue.add(objectKey(object)));
  informer.start(signal);

  const elector = createElector({ client, lease: { namespace, name: "placements" }, identity, logger });
  // Its writes fail, unsent, once the lease may be another's.
  const leader = client.withFence(elector.fence());

  return elector.run(signal, {
    async onStartedLeading(leading) {
      await informer.whenSynced(leading);
      const workers = { name: "placements", logger, signal: leading, concurrency: 4 };
      await runWorkers(
        queue,
        async (key, { signal }) => {
          const pod = informer.store.byKey(key);
          const metadata = refOfKey(key);
          if (pod === undefined) {
            await leader.delete(configMaps, metadata, { signal }).catch((error: unknown) => {
              if (!isNotFound(error)) throw error;
            });
          } else {
            const data = { node: pod.spec?.nodeName ?? "" };
            await leader.apply(configMaps, { metadata, data }, { manager: "placements", force: true, signal });
          }
          return undefined;
        },
        workers,
      );
    },
  });
};
