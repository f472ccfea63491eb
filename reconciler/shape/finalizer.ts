/** The finalizer that keeps a TradingEngine until its children are taken down in order. */
import { fieldManagers, finalizer } from "../../api/names.ts";
import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import type { KubeClient, KubeObject } from "../kube/index.ts";
import { tradingEngines } from "../tradingEngine/index.ts";

type Metadata = TradingEngine["metadata"];

export const hasFinalizer = ({ finalizers }: Metadata): boolean => finalizers?.includes(finalizer) ?? false;

/**
 * Puts the finalizer on an engine that lacks it. Throws an ApiError `invalid` or `conflict` when the engine changed
 * since it was read: it may be on its way out, and a finalizer that comes too late would be refused or, worse, be
 * put on the next engine of that name.
 */
export const addFinalizer = async (client: Pick<KubeClient, "patch">, metadata: Metadata): Promise<void> => {
  if (hasFinalizer(metadata)) return;
  await patchFinalizers(client, metadata, [...(metadata.finalizers ?? []), finalizer]);
};

/** Lets the engine go. */
export const removeFinalizer = async (client: Pick<KubeClient, "patch">, metadata: Metadata): Promise<void> => {
  if (!hasFinalizer(metadata)) return;
  await patchFinalizers(
    client,
    metadata,
    (metadata.finalizers ?? []).filter((name) => name !== finalizer),
  );
};

const patchFinalizers = (
  client: Pick<KubeClient, "patch">,
  { namespace, name, uid, resourceVersion }: Metadata,
  finalizers: readonly string[],
): Promise<KubeObject> =>
  client.patch(
    tradingEngines,
    { namespace, name },
    // A merge patch with these two in it is refused as a conflict when either is no longer so.
    { metadata: { uid, resourceVersion, finalizers } },
    { type: "merge", manager: fieldManagers.lifecycle },
  );
