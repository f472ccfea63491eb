import { parseArgs } from "node:util";

/** How the engines under test are run. */
export type Target =
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "exec"; readonly directory: string }
  | {
      readonly kind: "image";
      readonly image: string;
      readonly helperImage: string;
      readonly storageClass: string | null;
    };

export type Invocation =
  | { readonly action: "help" }
  | { readonly action: "list" }
  | {
      readonly action: "run";
      readonly target: Target;
      readonly only: readonly string[];
      readonly jobs: number;
      readonly jsonFile: string | null;
    };

/** The command line can't be understood; the message says how it should be. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const usage = `usage: ./conformance --command 'PROGRAM ARG...' [--only RULE]... [--jobs N] [--json FILE]
       ./conformance --exec DIRECTORY ...
       ./conformance --image IMAGE [--helper-image IMAGE] [--storage-class CLASS] ...
       ./conformance --list

Holds an engine against the engine contract (docs/reference/engine-contract.md), from outside: starts replicas of it,
makes them lead, follow, stop and die, and compares what it sees with what must be. Leaves nothing behind.

  --command 'PROGRAM ARG...'  run it as processes on this machine, with TE_* variables, data folders and ports of their own
  --exec DIRECTORY            an engine of the exec variant: executables that are called one by one
  --image IMAGE               run it as pods, in a namespace of their own, on the cluster of KUBECONFIG; its pods must be
                              reachable from here
  --helper-image IMAGE        an image with Node.js that sends signals in those pods (default: the reference engine's)
  --storage-class CLASS       for their volumes (default: the cluster's default)
  --only RULE                 this rule alone; may be given more than once
  --jobs N                    rules looked at side by side (default 2)
  --json FILE                 also write the results as JSON
  --list                      print the rules, and what each of them prevents

exit code: 0 no rule failed; 1 a rule failed, or the engine does not start; 64 bad usage
`;

/** @throws {UsageError} */
export const parseInvocation = (args: readonly string[]): Invocation => {
  const values = parse(args);
  if (values.help) return { action: "help" };
  if (values.list) return { action: "list" };
  return {
    action: "run",
    target: targetOf(values),
    only: values.only ?? [],
    jobs: jobsOf(values.jobs),
    jsonFile: values.json ?? null,
  };
};

type Values = ReturnType<typeof parse>;

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", short: "h", default: false },
        list: { type: "boolean", default: false },
        command: { type: "string" },
        exec: { type: "string" },
        image: { type: "string" },
        "helper-image": { type: "string" },
        "storage-class": { type: "string" },
        only: { type: "string", multiple: true },
        jobs: { type: "string", default: "2" },
        json: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

const targetOf = (values: Values): Target => {
  const { command, exec, image } = values;
  const targets: readonly (Target | null)[] = [
    command === undefined ? null : { kind: "command", command },
    exec === undefined ? null : { kind: "exec", directory: exec },
    image === undefined
      ? null
      : {
          kind: "image",
          image,
          helperImage: values["helper-image"] ?? "localhost/enginekeeper/engine:dev",
          storageClass: values["storage-class"] ?? null,
        },
  ];
  const [target, another] = targets.filter((candidate) => candidate !== null);
  if (target === undefined || another !== undefined) {
    throw new UsageError("name one engine: --command, --exec or --image");
  }
  if ([command, exec, image].includes("")) throw new UsageError(`--${target.kind} must not be empty`);
  const forPods = values["helper-image"] ?? values["storage-class"];
  if (forPods !== undefined && target.kind !== "image") {
    throw new UsageError("--helper-image and --storage-class belong to --image");
  }
  return target;
};

const jobsOf = (text: string): number => {
  const jobs = Number(text);
  if (/^\d{1,2}$/.test(text) && jobs >= 1) return jobs;
  throw new UsageError(`--jobs must be a number from 1 to 99, not "${text}"`);
};
