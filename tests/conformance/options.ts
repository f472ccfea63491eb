import { parseArgs } from "node:util";

/** How the engines under test are run. */
export interface Target {
  readonly kind: "command";
  readonly command: string;
}

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
       ./conformance --list

Holds an engine against the engine contract (docs/reference/engine-contract.md), from outside: starts replicas of it,
makes them lead, follow, stop and die, and compares what it sees with what must be. Leaves nothing behind.

  --command 'PROGRAM ARG...'  run it as processes on this machine, with TE_* variables, data folders and ports of their own
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
        only: { type: "string", multiple: true },
        jobs: { type: "string", default: "2" },
        json: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

const targetOf = ({ command }: Values): Target => {
  if (command === undefined) throw new UsageError("name the engine: --command");
  if (command === "") throw new UsageError("--command must not be empty");
  return { kind: "command", command };
};

const jobsOf = (text: string): number => {
  const jobs = Number(text);
  if (/^\d{1,2}$/.test(text) && jobs >= 1) return jobs;
  throw new UsageError(`--jobs must be a number from 1 to 99, not "${text}"`);
};
