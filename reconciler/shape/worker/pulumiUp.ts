/** One `pulumi up` of an inline program, at the price of one start of the CLI. */
import { LocalWorkspace, type PulumiCommand, type PulumiFn, Stack } from "@pulumi/pulumi/automation/index.js";
import { refusalOf } from "../planGuard.ts";
import type { UpOutcome } from "./protocol.ts";
import { createEventCollector } from "./runRecord.ts";
import { readCheckpoint, writeRunFolder } from "./workspace.ts";

export interface UpRequest {
  readonly stack: string;
  readonly directory: string;
  readonly checkpoint: string;
  readonly refresh: boolean;
  readonly program: PulumiFn;
}

/**
 * Environment of the CLI.
 *
 * Checkpoints between steps are left out: a run that is killed is repeated from the old state, and creating is an
 * upsert, so that there is nothing to gain from them. What would reach for the network or for plugins other than the
 * pinned ones is switched off.
 */
const environment = (backendUrl: string) => ({
  PULUMI_BACKEND_URL: backendUrl,
  PULUMI_SKIP_CHECKPOINTS: "true",
  PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: "true",
  PULUMI_DIY_BACKEND_NO_LEGACY_WARNING: "true",
  PULUMI_SKIP_UPDATE_CHECK: "true",
  PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  PULUMI_IGNORE_AMBIENT_PLUGINS: "true",
  PULUMI_LOG_ROTATION_MAX_AGE_DAYS: "1",
  PULUMI_LOG_ROTATION_MAX_TOTAL_MB: "20",
});

/** Runs `up`. Never throws for what the CLI or the program did wrong: that is an outcome. */
export const pulumiUp = async (command: PulumiCommand, request: UpRequest): Promise<UpOutcome> => {
  const folder = await writeRunFolder(request.directory, request.stack, request.checkpoint);
  const workspace = await LocalWorkspace.create({
    workDir: folder.work,
    pulumiCommand: command,
    envVars: environment(folder.backendUrl),
  });
  // The folder names the only stack there is. up() asks for outputs and history afterwards, with three more starts of
  // the CLI; the events have told both by then.
  workspace.selectStack = () => Promise.resolve();
  const stack = await Stack.select(request.stack, workspace);
  stack.outputs = () => Promise.resolve({});
  stack.info = () => Promise.resolve(undefined);

  const events = createEventCollector();
  const failure = await stack
    .up({
      program: request.program,
      refresh: request.refresh,
      onEvent: events.onEvent,
      color: "never",
      suppressProgress: true,
      suppressOutputs: true,
    })
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  const checkpoint = await readCheckpoint(folder);
  const { errors, ...record } = events.record();
  const outcome = { ...record, ...(checkpoint === undefined ? {} : { checkpoint }) };
  if (failure === undefined) return { ...outcome, result: "succeeded" };
  const refusal = refusalOf(errors);
  return {
    ...outcome,
    result: refusal === undefined ? "failed" : "refused",
    message: refusal ?? (errors.length > 0 ? errors.join("\n") : messageOf(failure)),
  };
};

/** Without an error of the engine, all that is left is the CLI's own output. */
const messageOf = (failure: unknown): string =>
  (failure instanceof Error ? failure.message : String(failure)).slice(0, longestMessage);

const longestMessage = 4000;
