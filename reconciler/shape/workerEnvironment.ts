import { delimiter } from "node:path";
import { scratchFolder } from "./scratchFolder.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a worker finds the CLI, its home and the cluster. */
export interface WorkerPlaces {
  readonly pulumiFolder?: string;
  readonly kubeconfig?: string;
  readonly scratch: string;
}

/**
 * Environment of a worker: that of the daemon, with the places set. Throws when there is no passphrase, which Pulumi
 * would ask for at a terminal that nobody watches.
 */
export const workerEnvironment = (
  env: Environment,
  { pulumiFolder, kubeconfig, scratch }: WorkerPlaces,
): Environment => {
  if (env["PULUMI_CONFIG_PASSPHRASE"] === undefined && (env["PULUMI_CONFIG_PASSPHRASE_FILE"] ?? "") === "") {
    throw new Error(
      "no passphrase for the state of stacks: set PULUMI_CONFIG_PASSPHRASE_FILE to a file that holds one, " +
        "or PULUMI_CONFIG_PASSPHRASE",
    );
  }
  return {
    ...env,
    PULUMI_HOME: scratchFolder(scratch).home,
    // The CLI looks the user up for its lock, and an arbitrary uid of a container has no entry.
    USER: env["USER"] ?? "enginekeeper",
    HOME: env["HOME"] ?? scratch,
    ...(pulumiFolder === undefined ? {} : { PATH: [pulumiFolder, env["PATH"] ?? ""].join(delimiter) }),
    ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
  };
};
