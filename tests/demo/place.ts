/** The place where the demo runs: a cluster that answers, a Pulumi workspace for it, and the images that it knows. */

import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { localStorageClass } from "../../local/cluster/addons.ts";
import { clusterDown, isRunning } from "../../local/cluster/cluster.ts";
import { type ClusterLayout, clusterLayout } from "../../local/cluster/layout.ts";
import { embeddedUp } from "../../local/embedded.ts";
import { type ImageArchive, pinnedName } from "../../local/images/load.ts";
import { engineImage, operatorImage } from "../../local/images/names.ts";
import { clientTools, kindContext, kindDown, kindStorageClass, kindUp } from "../../local/kind.ts";
import { ensurePulumiWorkspace, type PulumiWorkspace } from "../../local/pulumi/workspace.ts";
import { ensureTools } from "../../local/toolchain/ensure.ts";
import { cacheRoot } from "../../local/toolchain/manifest.ts";
import type { Target } from "./options.ts";

export interface Place {
  readonly kubeconfig: string;
  readonly context?: string;
  readonly workspace: PulumiWorkspace;
  readonly engineImage: string;
  readonly operatorImage: string;
  readonly storageClass: string;
  /** Of an embedded cluster, where a process can be killed on its node. */
  readonly layout?: ClusterLayout;
}

type Progress = (message: string) => void;

const ownKubeconfig = (): string => process.env["KUBECONFIG"] ?? join(homedir(), ".kube", "config");

/** Folder of the Pulumi state of a cluster that is not ours. */
const contextFolder = (context: string): string => join(cacheRoot(), "contexts", context.replaceAll(/[^\w.-]+/g, "_"));

/** Makes the place ready: whatever is missing is built, started or installed. */
export const preparePlace = async (repository: string, target: Target, progress: Progress): Promise<Place> => {
  switch (target.kind) {
    case "embedded": {
      const layout = clusterLayout(target.cluster);
      const images = await embeddedUp(repository, layout, progress);
      const workspace = await ensurePulumiWorkspace(repository, join(layout.folder, "pulumi"), layout.kubeconfig);
      return {
        kubeconfig: layout.kubeconfig,
        workspace,
        engineImage: pinned(images, engineImage),
        operatorImage: pinned(images, operatorImage),
        storageClass: localStorageClass,
        layout,
      };
    }
    case "kind": {
      await kindUp(repository, progress);
      return await foreignPlace(repository, {
        context: kindContext,
        engineImage,
        operatorImage,
        storageClass: kindStorageClass,
      });
    }
    case "context": {
      await ensureTools(clientTools, progress);
      return await foreignPlace(repository, target);
    }
  }
};

const pinned = (images: readonly ImageArchive[], name: string): string => {
  const image = images.find((candidate) => candidate.name === name);
  return image === undefined ? name : pinnedName(image);
};

type ForeignCluster = Pick<Place, "engineImage" | "operatorImage" | "storageClass"> & { readonly context: string };

const foreignPlace = async (repository: string, cluster: ForeignCluster): Promise<Place> => {
  const kubeconfig = ownKubeconfig();
  const workspace = await ensurePulumiWorkspace(
    repository,
    contextFolder(cluster.context),
    kubeconfig,
    cluster.context,
  );
  return { ...cluster, kubeconfig, workspace };
};

/** The place as an earlier run left it, to take down what was installed there; null when there is nothing. */
export const findPlace = async (repository: string, target: Target): Promise<Place | null> =>
  // A cluster that was made for the demo goes as a whole.
  target.kind === "context" ? await foreignPlace(repository, target) : null;

/** Removes what {@link preparePlace} made. */
export const removePlace = async (target: Target): Promise<void> => {
  switch (target.kind) {
    case "embedded":
      await clusterDown(clusterLayout(target.cluster));
      return;
    case "kind":
      await kindDown();
      await rm(contextFolder(kindContext), { recursive: true, force: true });
      return;
    case "context":
      await rm(contextFolder(target.context), { recursive: true, force: true });
  }
};

/** Whether an embedded cluster runs already. */
export const isWarm = (target: Target): boolean =>
  target.kind === "embedded" && isRunning(clusterLayout(target.cluster));
