/** The conformance kit: is this an engine that enginekeeper can run without ever losing an acknowledged order? */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";

import { loadClusterAccess } from "../../reconciler/kube/index.ts";
import { openExecBed } from "./exec/execLab.ts";
import { execRules } from "./exec/execRules.ts";
import { openCommandHost } from "./hosts/commandHost.ts";
import { openImageHost } from "./hosts/imageHost.ts";
import { httpBed } from "./httpBed.ts";
import { type Invocation, parseInvocation, UsageError, usage } from "./options.ts";
import { progressLine, type Report, reportOf, table } from "./report.ts";
import type { Rule } from "./rule.ts";
import { httpRules } from "./rules/catalogue.ts";
import { type Closable, runRules, type TestBed } from "./runRules.ts";
import { Violation } from "./violation.ts";

const ruleDeadlineMs = 180_000;

type RunInvocation = Extract<Invocation, { action: "run" }>;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const test = async (invocation: RunInvocation): Promise<Report> => {
  const { target } = invocation;
  switch (target.kind) {
    case "command":
      return lookAtAll(invocation, httpRules, async () =>
        httpBed(await openCommandHost({ command: target.command, directory: process.cwd() })),
      );
    case "image":
      return lookAtAll(invocation, httpRules, async () =>
        httpBed(await openImageHost({ access: await loadClusterAccess(), ...target, progress: say })),
      );
    case "exec":
      return lookAtAll(invocation, execRules, () => openExecBed(resolve(target.directory)));
  }
};

const lookAtAll = async <L extends Closable>(
  { only, jobs }: RunInvocation,
  rules: readonly Rule<L>[],
  open: () => Promise<TestBed<L>>,
): Promise<Report> => {
  const chosen = choose(rules, only);
  const bed = await open();
  closeOnSignal(bed);
  try {
    const onResult = (result: Parameters<typeof progressLine>[0]): void => say(progressLine(result));
    return reportOf(bed.subject, await runRules(bed, chosen, { jobs, ruleDeadlineMs, onResult }));
  } finally {
    await bed.close();
  }
};

const choose = <L>(rules: readonly Rule<L>[], only: readonly string[]): readonly Rule<L>[] => {
  const unknown = only.find((id) => !rules.some((rule) => rule.id === id));
  if (unknown !== undefined) throw new UsageError(`there is no rule ${unknown} for this kind of engine; see --list`);
  return only.length === 0 ? rules : rules.filter(({ id }) => only.includes(id));
};

const list = (): string =>
  [...httpRules, ...execRules]
    .map(({ id, title, prevents }) => `${id}\n  ${title}.\n  Prevents: ${prevents}.\n`)
    .join("\n");

/** Ends the run, and with it everything that was started, when a person or a supervisor has had enough. */
const closeOnSignal = (bed: Closable): void => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.once(signal, () => {
      void bed.close().finally(() => process.exit(code));
    });
  }
};

const main = async (): Promise<number> => {
  const invocation = parseInvocation(process.argv.slice(2));
  switch (invocation.action) {
    case "help":
      process.stdout.write(usage);
      return 0;
    case "list":
      process.stdout.write(list());
      return 0;
    case "run": {
      const report = await test(invocation);
      process.stdout.write(`\n${table(report)}`);
      if (invocation.jsonFile !== null) await writeFile(invocation.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
      return report.failed === 0 ? 0 : 1;
    }
  }
};

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof UsageError) say(`${error.message}\n\n${usage}`);
  else if (error instanceof Violation) say(`the engine can't be tested: ${error.seen}`);
  else say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = error instanceof UsageError ? 64 : 1;
}
