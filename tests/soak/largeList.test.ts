/** The event loop must stay free for the role lane while a large collection is taken in. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createInformer, createKubeClient, pods } from "../../reconciler/kube/index.ts";
import { podCount } from "../bench/benchPod.ts";

/** Records the work of each turn of the event loop: its CPU time, which a busy machine does not stretch. */
const recordTurns = () => {
  const turnsMs: number[] = [];
  let last = process.threadCpuUsage();
  let stopped = false;
  const turn = (): void => {
    const now = process.threadCpuUsage();
    turnsMs.push((now.user + now.system - last.user - last.system) / 1000);
    last = now;
    if (!stopped) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    turnsMs,
    stop: (): void => {
      stopped = true;
    },
  };
};

describe("informer", () => {
  it("takes 10,000 Pods in without keeping the event loop for more than 50 ms at a time", async (test) => {
    const server = fork(fileURLToPath(new URL("../bench/podServer.ts", import.meta.url)));
    test.after(() => void server.kill());
    const [{ url }] = (await once(server, "message")) as [{ readonly url: string }];
    const credentials = () => Promise.resolve({ headers: {}, tls: { rejectUnauthorized: false } });
    const access = { server: url, namespace: undefined, credentials };
    const client = createKubeClient({ access, userAgent: "test/1" });
    const stop = new AbortController();
    test.after(() => {
      stop.abort();
      return client.close();
    });
    const informer = createInformer({ client, resource: pods, withoutManagedFields: true });
    let added = 0;
    informer.onChange(() => (added += 1));

    const { turnsMs, stop: stopRecording } = recordTurns();
    informer.start(stop.signal);
    await informer.whenSynced(AbortSignal.timeout(60_000));
    stopRecording();

    assert.equal(added, podCount);
    assert.equal(informer.store.size, podCount);
    const longest = Math.max(...turnsMs);
    assert.ok(longest < 50, `the longest turn took ${longest} ms`);
  });
});
