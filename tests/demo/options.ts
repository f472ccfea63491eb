import { parseArgs } from "node:util";
import { type ClusterName, clusterNumbers } from "../../local/cluster/layout.ts";

/** Which cluster the demo runs on. */
export type Target =
  | { readonly kind: "embedded"; readonly cluster: ClusterName }
  | { readonly kind: "kind" }
  | {
      readonly kind: "context";
      readonly context: string;
      readonly engineImage: string;
      readonly operatorImage: string;
      readonly storageClass: string;
    };

export type Invocation =
  | { readonly action: "help" }
  | { readonly action: "run"; readonly target: Target; readonly jsonFile: string | null; readonly verbose: boolean }
  | { readonly action: "down"; readonly target: Target };

/** The command line can't be understood; the message says how it should be. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const usage = `usage: ./demo [--json FILE] [--down] [--verbose]
       ./demo --kind
       ./demo --context NAME --engine-image IMAGE --operator-image IMAGE --storage-class CLASS

Brings up a real cluster, installs the platform and one trading pair by \`pulumi up\`, sends orders, kills the
primary while they flow, and holds every acknowledged order against the surviving journal. Leaves all of it running.

  --json FILE      also write what it showed as JSON
  --down           remove every trace of it: the cluster, or what was installed into an existing one
  --verbose        print what Pulumi prints
  --cluster NAME   which embedded cluster: dev (default) or test
  --kind           a kind cluster instead of the embedded one; needs Docker and kind
  --context NAME   an existing cluster of your kubeconfig; push both images to where it finds them, by digest,
                   and name a storage class that waits for the first consumer

exit code: 0 shown; 1 a step failed; 2 the promise was broken (an order lost or acknowledged twice); 64 bad usage
`;

/** @throws {UsageError} */
export const parseInvocation = (args: readonly string[]): Invocation => {
  const values = parse(args);
  if (values.help) return { action: "help" };
  const target = targetOf(values);
  if (values.down) return { action: "down", target };
  return { action: "run", target, jsonFile: values.json ?? null, verbose: values.verbose };
};

type Values = ReturnType<typeof parse>;

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", short: "h", default: false },
        down: { type: "boolean", default: false },
        verbose: { type: "boolean", default: false },
        json: { type: "string" },
        cluster: { type: "string", default: "dev" },
        kind: { type: "boolean", default: false },
        context: { type: "string" },
        "engine-image": { type: "string" },
        "operator-image": { type: "string" },
        "storage-class": { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

const targetOf = (values: Values): Target => {
  if (values.kind && values.context !== undefined) throw new UsageError("--kind and --context exclude each other");
  if (values.kind) return { kind: "kind" };
  if (values.context === undefined) {
    const names = Object.keys(clusterNumbers);
    if (!names.includes(values.cluster)) throw new UsageError(`--cluster is one of ${names.join(", ")}`);
    return { kind: "embedded", cluster: values.cluster as ClusterName };
  }
  const needed = (name: "engine-image" | "operator-image" | "storage-class"): string => {
    const value = values[name];
    if (value !== undefined) return value;
    // Nothing is installed when it is taken down.
    if (values.down) return "";
    throw new UsageError(`--context needs --${name}: the cluster can't use what is only on this machine`);
  };
  return {
    kind: "context",
    context: values.context,
    engineImage: needed("engine-image"),
    operatorImage: needed("operator-image"),
    storageClass: needed("storage-class"),
  };
};
