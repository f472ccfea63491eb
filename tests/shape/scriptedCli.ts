import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Faults of a Pulumi CLI; each is what the shell does for `pulumi up`, once its provider has been started. */
const faults = {
  /** Neither the deadline nor a signal makes it end. */
  hangs: "trap '' TERM INT; while :; do sleep 1; done",
  /** Ends as the CLI does when it is asked to. */
  cancels: "trap 'echo cancelled >&2; exit 1' TERM; while :; do sleep 0.1; done",
  dies: "kill -KILL $$",
  fails: "echo 'error: no space left on device' >&2; exit 255",
  /** Leaves half a checkpoint, as a full disk does. */
  "tears its state": 'printf \'{"version":3,"check\' > "$checkpoint"; exit 255',
} as const;

export type CliFault = keyof typeof faults;

/** Puts a `pulumi` into `folder` that starts a provider in a process group of its own, and then fails in one way. */
export const writeScriptedCli = (folder: string, fault: CliFault): void => {
  const file = join(folder, "pulumi");
  writeFileSync(
    file,
    `#!/bin/bash
if [ "$1" = version ]; then echo v3.274.1; exit; fi
checkpoint=$(find "\${PULUMI_BACKEND_URL#file://}/.pulumi/stacks" -name '*.json')
# A plugin talks to the CLI through pipes of its own.
set -m; sleep 600 >/dev/null 2>&1 & set +m
${faults[fault]}
`,
  );
  chmodSync(file, 0o755);
};
