/** Runs that are broken off by force, with real Pulumi: the next pass must put everything right with no person involved. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { childNames } from "../../api/names.ts";
import { services, statefulSets } from "../../reconciler/kube/index.ts";
import { sessionMembers } from "../../reconciler/shape/worker/processSession.ts";
import { waitFor } from "../support/waitFor.ts";
import {
  createEngine,
  find,
  namespace,
  patchEngine,
  type RunningLane,
  type ShapeCluster,
  startLane,
  startShapeCluster,
} from "./shapeCluster.ts";

/** The processes of a run, each by a part of its command line. */
const victims = {
  "the worker": "worker/main.ts",
  "the CLI": "pulumi\0up\0",
  "the provider": "pulumi-resource-kubernetes",
} as const;

/** Processes that descend from this one, with their command lines. */
const descendants = async (): Promise<readonly { readonly pid: number; readonly command: string }[]> => {
  const pids = (await readdir("/proc")).filter((name) => /^[0-9]+$/.test(name)).map(Number);
  const processes = await Promise.all(
    pids.map(async (pid) => {
      try {
        const stat = await readFile(`/proc/${pid}/stat`, "utf8");
        const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return { pid, parent: Number(parent), command: await readFile(`/proc/${pid}/cmdline`, "utf8") };
      } catch {
        return undefined;
      }
    }),
  );
  const known = new Set([process.pid]);
  const found: { pid: number; command: string }[] = [];
  // Parents may come after their children in the list.
  for (let before = -1; before !== known.size; ) {
    before = known.size;
    for (const one of processes) {
      if (one === undefined || known.has(one.pid) || !known.has(one.parent)) continue;
      known.add(one.pid);
      found.push(one);
    }
  }
  return found;
};

describe("a run that is broken off", { timeout: 600_000 }, () => {
  let cluster: ShapeCluster;
  let running: RunningLane;

  before(async () => {
    cluster = await startShapeCluster();
    running = await startLane(cluster, { upDeadlineMs: 20_000 });
  });
  after(async () => {
    await running.stop();
    await cluster.stop();
  });

  const kill = async (victim: string): Promise<void> => {
    const { pid } = await waitFor({
      what: `a process of ${JSON.stringify(victim)}`,
      deadlineMs: 30_000,
      everyMs: 5,
      look: async () => (await descendants()).find(({ command }) => command.includes(victim)) ?? { pid: 0 },
      until: (seen) => seen.pid !== 0,
    });
    process.kill(pid, "SIGKILL");
  };

  const assertWhole = async (engine: string): Promise<void> => {
    const names = childNames(engine);
    assert.ok((await find(cluster, statefulSets, names.statefulSet)) !== undefined);
    for (const service of [names.primaryService, names.standbyService, names.replicasService]) {
      assert.ok((await find(cluster, services, service)) !== undefined, service);
    }
  };

  for (const [name, victim] of Object.entries(victims)) {
    it(`by the death of ${name} while an engine is made is repeated to the same end`, async () => {
      const engine = `made-${name.replace("the ", "").toLowerCase()}`;
      const key = await createEngine(cluster, engine);
      await kill(victim);
      await running.result(key, ({ result }) => result === "succeeded");
      await assertWhole(engine);
    });

    it(`by the death of ${name} during a repair is repeated to the same end`, async () => {
      const engine = `repaired-${name.replace("the ", "").toLowerCase()}`;
      const key = await createEngine(cluster, engine);
      await running.result(key, ({ result }) => result === "succeeded");
      const set = await find(cluster, statefulSets, engine);
      const since = running.results.length;
      await cluster.client.delete(services, { namespace, name: childNames(engine).primaryService });
      await kill(victim);
      await running.result(key, ({ result }) => result === "succeeded", since);
      await assertWhole(engine);
      assert.equal((await find(cluster, statefulSets, engine))?.metadata.uid, set?.metadata.uid);
    });
  }

  it("by an API server that dies in the middle is repeated once it is back", async () => {
    const key = await createEngine(cluster, "outage");
    await running.result(key, ({ result }) => result === "succeeded");
    const set = await find(cluster, statefulSets, "outage");
    const since = running.results.length;
    await patchEngine(cluster, "outage", { config: { tickSize: "0.5" }, resources: { requests: { cpu: "3" } } });
    await sleep(300);
    await cluster.server.restart();
    const result = await running.result(key, (seen) => seen.result === "succeeded" && seen.generation === 2, since);
    assert.equal(result.reason, "SpecChanged");
    const after = await find(cluster, statefulSets, "outage");
    assert.equal(after?.metadata.uid, set?.metadata.uid);
    assert.equal(after?.spec?.template.spec?.containers[0]?.resources?.requests?.["cpu"], "3");
  });

  it("by a daemon that ends in the middle is finished by the next one", async () => {
    const key = await createEngine(cluster, "handed-over");
    await waitFor({
      what: "the CLI",
      deadlineMs: 30_000,
      everyMs: 5,
      look: descendants,
      until: (seen) => seen.some(({ command }) => command.includes(victims["the CLI"])),
    });
    const members = (await descendants()).map(({ pid }) => pid);
    await running.stop();
    running = await startLane(cluster, { upDeadlineMs: 20_000 });
    await running.result(key, ({ result }) => result === "succeeded");
    await assertWhole("handed-over");
    assert.deepEqual(members.flatMap(sessionMembers), [], "nothing of the first daemon's run is left");
  });
});
