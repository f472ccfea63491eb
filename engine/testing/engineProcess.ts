import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import type { EngineAddresses } from "../process/engine.ts";
import { EngineClient, testCluster, testToken } from "./engineClient.ts";

const productEntry = fileURLToPath(new URL("../main.ts", import.meta.url));
/** The test image's: heeds TE_FAULTS. */
export const faultyEntry = fileURLToPath(new URL("../faults/main.ts", import.meta.url));

/** One `node engine/main.ts` on loopback ports of its own choice. */
export class EngineProcess {
  readonly child: ChildProcess;
  readonly client: EngineClient;

  private constructor(child: ChildProcess, client: EngineClient) {
    this.child = child;
    this.client = client;
  }

  /** Starts `instance` with its data under `root`; a second start finds what the first one left. */
  static async start(
    test: Pick<TestContext, "after">,
    root: string,
    instance: string,
    env: Readonly<Record<string, string>> = {},
    entry = productEntry,
  ): Promise<EngineProcess> {
    const child = await spawnEngine(root, instance, env, entry);
    test.after(() => child.kill("SIGKILL"));
    return new EngineProcess(child, new EngineClient(instance, await startedAddresses(child)));
  }

  /** Sends `signal` and resolves with the exit code; null when the signal ended the process. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const exit = exitCodeOf(this.child);
    this.child.kill(signal);
    return exit;
  }
}

/** Starts the process without waiting for it to come up. */
export const spawnEngine = async (
  root: string,
  instance: string,
  env: Readonly<Record<string, string>> = {},
  entry = productEntry,
): Promise<ChildProcess> => {
  const dir = join(root, instance);
  await mkdir(dir, { recursive: true });
  const config = { tradingPair: "BTC/USDT", tickSize: "0.01", lotSize: "0.00001" };
  await writeFile(join(dir, "config.json"), JSON.stringify(config));
  await writeFile(join(dir, "token"), `${testToken}\n`);
  return spawn(process.execPath, [entry], {
    env: {
      // Compiling the engine is most of its start; all processes of all tests share one result.
      NODE_COMPILE_CACHE: join(tmpdir(), "te-compile-cache"),
      TE_CLUSTER_UID: testCluster,
      TE_INSTANCE_ID: instance,
      TE_DATA_DIR: join(dir, "data"),
      TE_CONFIG_FILE: join(dir, "config.json"),
      TE_TOKEN_FILE: join(dir, "token"),
      TE_CONTROL_ADDR: "127.0.0.1:0",
      TE_ORDER_ADDR: "127.0.0.1:0",
      TE_REPLICATION_ADDR: "127.0.0.1:0",
      TE_FEED_ADDR: "127.0.0.1:0",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
};

export const exitCodeOf = async (child: ChildProcess): Promise<number | null> => {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
};

const startedAddresses = async (child: ChildProcess): Promise<EngineAddresses> => {
  if (child.stdout === null) throw new Error("the engine's output is a pipe");
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    const entry = JSON.parse(line) as EngineAddresses & { message: string };
    if (entry.message !== "started") continue;
    child.stdout.resume();
    const { control, orders, replication, feed } = entry;
    return { control, orders, replication, feed };
  }
  throw new Error(`the engine ended before it was up:\n${lines.join("\n")}`);
};
