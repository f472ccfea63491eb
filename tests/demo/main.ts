/** The main job, shown: from nothing to a trading pair that survives the loss of its primary. */
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { PreflightError } from "../../local/preflight.ts";
import { CommandError } from "../../local/process/run.ts";
import { ToolchainError } from "../../local/toolchain/ensure.ts";
import { removeDemo, runDemo } from "./demo.ts";
import { parseInvocation, type Target, UsageError, usage } from "./options.ts";

const repository = dirname(dirname(import.meta.dirname));

const say = (message: string): void => {
  process.stdout.write(`${message}\n`);
};

/** What holds data is never deleted from a cluster that was not made for the demo. */
const remains = (target: Target): string =>
  target.kind === "context"
    ? `removed. What holds or describes data is kept; to remove that too:
  kubectl --context ${target.context} delete namespace trading
  kubectl --context ${target.context} delete crd tradingengines.enginekeeper.dev`
    : "nothing of the demo is left";

const main = async (): Promise<number> => {
  const invocation = parseInvocation(process.argv.slice(2));
  switch (invocation.action) {
    case "help":
      process.stdout.write(usage);
      return 0;
    case "down":
      await removeDemo(repository, invocation.target, say);
      say(remains(invocation.target));
      return 0;
    case "run": {
      const report = await runDemo(repository, invocation.target, say, invocation.verbose);
      if (invocation.jsonFile !== null) await writeFile(invocation.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
      return report.lostAcked === 0 && report.dualAcks === 0 ? 0 : 2;
    }
  }
};

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exitCode = 64;
  } else {
    const forPeople =
      error instanceof PreflightError || error instanceof ToolchainError || error instanceof CommandError;
    process.stderr.write(
      `${forPeople ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = 1;
  }
}
