/** kubectl against an embedded cluster, for set-up and tear-down. */
import { run } from "../process/run.ts";
import { toolPath } from "../toolchain/manifest.ts";

/** Runs kubectl and answers its output. */
export const kubectl = async (
  kubeconfig: string,
  args: readonly string[],
  input?: string,
  timeoutMs = 60_000,
): Promise<string> =>
  await run(toolPath("kubectl"), ["--kubeconfig", kubeconfig, ...args], {
    timeoutMs,
    ...(input === undefined ? {} : { input }),
  });

/** Applies objects, server-side. */
export const applyObjects = async (kubeconfig: string, objects: readonly object[]): Promise<void> => {
  const list = { apiVersion: "v1", kind: "List", items: objects };
  await kubectl(
    kubeconfig,
    ["apply", "--server-side", "--force-conflicts", "--field-manager=enginekeeper-local", "-f", "-"],
    JSON.stringify(list),
  );
};
