/** The conformance kit: is this an engine that enginekeeper can run without ever losing an acknowledged order? */
import { writeFile } from "node:fs/promises";

import { openCommandHost } from "./hosts/commandHost.ts";
import type { EngineHost } from "./hosts/engineHost.ts";
import { parseInvocation, UsageError, usage } from "./options.ts";
import { progressLine, reportOf, table } from "./report.ts";
import type { Rule } from "./rule.ts";
import { httpRules } from "./rules/catalogue.ts";
import { runRules } from "./runRules.ts";
import { Violation } from "./violation.ts";

const ruleDeadlineMs = 180_000;

const choose = (rules: readonly Rule[], only: readonly string[]): readonly Rule[] => {
  const unknown = only.find((id) => !rules.some((rule) => rule.id === id));
  if (unknown !== undefined) throw new UsageError(`there is no rule ${unknown}; --list prints all`);
  return only.length === 0 ? rules : rules.filter(({ id }) => only.includes(id));
};

const list = (rules: readonly Rule[]): string =>
  rules.map(({ id, title, prevents }) => `${id}\n  ${title}.\n  Prevents: ${prevents}.\n`).join("\n");

/** Ends the run, and with it everything that was started, when a person or a supervisor has had enough. */
const closeOnSignal = (host: EngineHost): void => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.once(signal, () => {
      void host.close().finally(() => process.exit(code));
    });
  }
};

const main = async (): Promise<number> => {
  const invocation = parseInvocation(process.argv.slice(2));
  if (invocation.action === "help") {
    process.stdout.write(usage);
    return 0;
  }
  if (invocation.action === "list") {
    process.stdout.write(list(httpRules));
    return 0;
  }
  const rules = choose(httpRules, invocation.only);
  const host = await openCommandHost({ command: invocation.target.command, directory: process.cwd() });
  closeOnSignal(host);
  try {
    const results = await runRules(host, rules, {
      jobs: invocation.jobs,
      ruleDeadlineMs,
      onResult: (result) => process.stderr.write(`${progressLine(result)}\n`),
    });
    const report = reportOf(host.subject, results);
    process.stdout.write(`\n${table(report)}`);
    if (invocation.jsonFile !== null) await writeFile(invocation.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
    return report.failed === 0 ? 0 : 1;
  } finally {
    await host.close();
  }
};

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${usage}`);
  else if (error instanceof Violation) process.stderr.write(`the engine can't be tested: ${error.seen}\n`);
  else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = error instanceof UsageError ? 64 : 1;
}
