/**
 * A Pulumi workspace of its own for the demo and the tests: the stock CLI on the repository's
 * programs, with state, plugins and stack files outside the checkout, which stays clean.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type RunOptions, run } from "../process/run.ts";
import { toolPath, tools } from "../toolchain/manifest.ts";

/** The two programs of the repository. */
export type PulumiProject = "platform" | "pairs";

export interface PulumiWorkspace {
  /** Folder to run `pulumi` in for a project. */
  readonly folders: Readonly<Record<PulumiProject, string>>;
  /** Environment of the CLI: put before the caller's own. */
  readonly env: Readonly<Record<string, string>>;
}

const linked = ["api", "infra", "node_modules", "package.json"];

/** Lays the workspace out below `folder`; stack files that are there already keep what the CLI wrote into them. */
export const ensurePulumiWorkspace = async (
  repository: string,
  folder: string,
  kubeconfig: string,
  context?: string,
): Promise<PulumiWorkspace> => {
  const at = (...parts: string[]): string => join(folder, ...parts);
  for (const place of ["backend", "bin", "home/plugins", "workspace/stacks"])
    await mkdir(at(place), { recursive: true });
  for (const tool of ["pulumi", "pulumi-language-nodejs", "kubectl"] as const)
    await link(toolPath(tool), at("bin", tool));
  await link(join(repository, "node_modules", "node", "bin", "node"), at("bin", "node"));
  const provider = tools["pulumi-resource-kubernetes"];
  await mkdir(at("home/plugins", `resource-kubernetes-${provider.version}`), { recursive: true });
  await link(toolPath(provider.name), at("home/plugins", `resource-kubernetes-${provider.version}`, provider.name));
  for (const name of linked) await link(join(repository, name), at("workspace", name));
  await cp(join(repository, "Pulumi.yaml"), at("workspace/Pulumi.yaml"));
  await copyOnce(join(repository, "Pulumi.dev.yaml"), at("workspace/Pulumi.dev.yaml"));
  await cp(join(repository, "stacks"), at("workspace/stacks"), { recursive: true, force: false });
  const passphrase = at("passphrase");
  if (!existsSync(passphrase)) await writeFile(passphrase, randomBytes(24).toString("base64url"), { mode: 0o600 });
  return {
    folders: { platform: at("workspace"), pairs: at("workspace/stacks") },
    env: {
      PATH: `${at("bin")}:${process.env["PATH"] ?? ""}`,
      KUBECONFIG: kubeconfig,
      ...(context === undefined ? {} : { PULUMI_K8S_CONTEXT: context }),
      PULUMI_HOME: at("home"),
      PULUMI_BACKEND_URL: `file://${at("backend")}`,
      PULUMI_CONFIG_PASSPHRASE_FILE: passphrase,
      EK_STACK_PASSPHRASE: (await readFile(passphrase, "utf8")).trim(),
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    },
  };
};

/** Runs `pulumi up` on a stack, creating the stack the first time. */
export const pulumiUp = async (
  workspace: PulumiWorkspace,
  project: PulumiProject,
  stack: string,
  onLine: (line: string) => void,
): Promise<void> => {
  await selectStack(workspace, project, stack);
  await pulumi(workspace, project, ["up", "--stack", stack, ...unattended], { timeoutMs: changeTimeoutMs, onLine });
};

/** Runs `pulumi destroy` on a stack. */
export const pulumiDestroy = async (
  workspace: PulumiWorkspace,
  project: PulumiProject,
  stack: string,
  onLine: (line: string) => void,
): Promise<void> => {
  await pulumi(workspace, project, ["destroy", "--stack", stack, ...unattended], {
    timeoutMs: changeTimeoutMs,
    onLine,
  });
};

/** Sets configuration of a stack, creating the stack the first time; a dotted key reaches into an object. */
export const pulumiConfig = async (
  workspace: PulumiWorkspace,
  project: PulumiProject,
  stack: string,
  values: Readonly<Record<string, string>>,
): Promise<void> => {
  await selectStack(workspace, project, stack);
  for (const [key, value] of Object.entries(values)) {
    await pulumi(workspace, project, ["config", "set", "--stack", stack, "--path", key, value]);
  }
};

/** The outputs of a stack. */
export const pulumiOutputs = async (
  workspace: PulumiWorkspace,
  project: PulumiProject,
  stack: string,
): Promise<Record<string, unknown>> =>
  JSON.parse(await pulumi(workspace, project, ["stack", "output", "--stack", stack, "--json"])) as Record<
    string,
    unknown
  >;

const unattended = ["--yes", "--skip-preview", "--non-interactive", "--color=never"];
const changeTimeoutMs = 600_000;

const selectStack = async (workspace: PulumiWorkspace, project: PulumiProject, stack: string): Promise<void> => {
  await pulumi(workspace, project, ["stack", "select", "--create", "--non-interactive", stack]);
};

const pulumi = async (
  workspace: PulumiWorkspace,
  project: PulumiProject,
  args: readonly string[],
  options: Pick<RunOptions, "timeoutMs" | "onLine"> = {},
): Promise<string> => await run("pulumi", args, { cwd: workspace.folders[project], env: workspace.env, ...options });

const copyOnce = async (from: string, to: string): Promise<void> => {
  if (!existsSync(to)) await cp(from, to);
};

const link = async (target: string, path: string): Promise<void> => {
  await rm(path, { force: true });
  await symlink(target, path);
};
