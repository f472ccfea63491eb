/** A kind cluster, for machines that have Docker: three nodes, with the images of this checkout. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildImages } from "./images/build.ts";
import { PreflightError } from "./preflight.ts";
import { run, succeeds } from "./process/run.ts";
import { ensureTools } from "./toolchain/ensure.ts";
import type { ToolName } from "./toolchain/manifest.ts";

const clusterName = "enginekeeper";

/** The context that kind writes into the default kubeconfig. */
export const kindContext = `kind-${clusterName}`;
/** kind's own class; it waits for the first consumer too. */
export const kindStorageClass = "standard";

/** The tools that a cluster of another's making needs here. */
export const clientTools: readonly ToolName[] = [
  "kubectl",
  "pause",
  "pulumi",
  "pulumi-language-nodejs",
  "pulumi-resource-kubernetes",
];

const configuration = `kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes: [{role: control-plane}, {role: worker}, {role: worker}, {role: worker}]
`;

/** Creates the cluster if it is missing, and loads the images. */
export const kindUp = async (repository: string, progress: (message: string) => void): Promise<void> => {
  if (!(await succeeds("docker", ["info"], { timeoutMs: 10_000 })))
    throw new PreflightError("--kind needs a running Docker engine");
  if (!(await succeeds("kind", ["version"])))
    throw new PreflightError("--kind needs kind on PATH: see kind.sigs.k8s.io");
  await ensureTools(clientTools, progress);
  const folder = await mkdtemp(join(tmpdir(), "enginekeeper-kind-"));
  try {
    const clusters = (await run("kind", ["get", "clusters"])).split("\n");
    if (!clusters.includes(clusterName)) {
      progress(`creating kind cluster ${clusterName}`);
      const config = join(folder, "kind.yaml");
      await writeFile(config, configuration);
      await run("kind", ["create", "cluster", "--name", clusterName, "--config", config, "--wait", "120s"], {
        timeoutMs: 600_000,
      });
    }
    for (const image of await buildImages(repository, progress)) {
      await run("kind", ["load", "image-archive", image.file, "--name", clusterName], { timeoutMs: 300_000 });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Deletes the cluster. */
export const kindDown = async (): Promise<void> => {
  await run("kind", ["delete", "cluster", "--name", clusterName], { timeoutMs: 120_000 });
};
