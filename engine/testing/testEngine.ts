import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import type { EngineConfig } from "../process/config.ts";
import { Engine } from "../process/engine.ts";
import { createLog } from "../process/log.ts";
import { machine } from "../process/machine.ts";
import { EngineClient, testCluster, testToken } from "./engineClient.ts";
import { testLimits, testRules } from "./testReplica.ts";

const anyPort = { host: "127.0.0.1", port: 0 };

export const testConfig = (instance: string, dataDir: string): EngineConfig => ({
  clusterUid: testCluster,
  instance,
  dataDir,
  controlAddress: anyPort,
  orderAddress: anyPort,
  replicationAddress: anyPort,
  feedAddress: anyPort,
  token: testToken,
  rules: testRules,
  clientIdWindow: 1_000_000,
  configHash: "a".repeat(64),
  build: "test",
  limits: testLimits,
});

/** A whole engine with all its ports, inside the test's own process. */
export const startEngine = async (
  test: Pick<TestContext, "after">,
  instance: string,
  change: Partial<EngineConfig> = {},
): Promise<EngineClient> => {
  const root = await mkdtemp(join(tmpdir(), "te-"));
  const dataDir = join(root, instance);
  await mkdir(dataDir);
  const engine = new Engine({
    config: { ...testConfig(instance, dataDir), ...change },
    ...machine,
    log: createLog({}, () => undefined),
    onFailure: (error) => {
      throw error;
    },
  });
  // In this order: an engine whose directory is gone fails, and takes the test's process with it.
  test.after(async () => {
    await engine.stop(200);
    await rm(root, { recursive: true, force: true });
  });
  await engine.start();
  if (engine.addresses === null) throw new Error("a started engine has addresses");
  return new EngineClient(instance, engine.addresses);
};

/** An engine that leads epoch 1 alone: every order is committed by its own disk. */
export const startAlone = async (test: Pick<TestContext, "after">): Promise<EngineClient> => {
  const engine = await startEngine(test, "te-0");
  await engine.promote(1, [], { k: 0 });
  await engine.accepting();
  return engine;
};

/** Three engines of which the first leads epoch 1 and the others follow. */
export const startTrio = async (
  test: Pick<TestContext, "after">,
): Promise<readonly [EngineClient, EngineClient, EngineClient]> => {
  const trio = await Promise.all([
    startEngine(test, "te-0"),
    startEngine(test, "te-1"),
    startEngine(test, "te-2"),
  ] as const);
  const [primary, second, third] = trio;
  await primary.promote(1, ["te-1", "te-2"]);
  await second.follow(1, primary);
  await third.follow(1, primary);
  await primary.accepting();
  return trio;
};
