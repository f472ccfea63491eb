/** Leader election on the real API server, with real time and real processes. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import {
  configMaps,
  createElector,
  createInformer,
  createKubeClient,
  type Elector,
  type KubeClient,
  leases,
  loadClusterAccess,
} from "../../reconciler/kube/index.ts";
import { waitFor } from "../support/waitFor.ts";
import { electionTiming, leaseRef } from "./election.ts";
import { type ApiServer, startApiServer } from "./startApiServer.ts";

let server: ApiServer;
let client: KubeClient;

before(async () => {
  server = await startApiServer();
  const access = await loadClusterAccess({ kubeconfig: server.kubeconfigPath });
  client = createKubeClient({ access, userAgent: "enginekeeper-test/1" });
});

after(async () => {
  await client.close();
  await server.stop();
});

const eventually = (what: string, condition: () => boolean) =>
  waitFor({ what, deadlineMs: 30_000, everyMs: 20, look: () => Promise.resolve(condition()), until: (holds) => holds });

const campaign = (identity: string) => {
  const elector = createElector({ client, lease: leaseRef, identity, ...electionTiming });
  const stop = new AbortController();
  const ended = elector.run(stop.signal, { onStartedLeading: (signal) => once(signal, "abort").then(() => undefined) });
  return { elector, stop, ended };
};

describe("election on a real API server", () => {
  it("has one leader of three at any time, and a new one as soon as the old one leaves", async () => {
    const candidates = ["a", "b", "c"].map(campaign);
    const leaders = () => candidates.filter(({ elector }) => elector.isLeader());
    for (let left = candidates.length; left > 0; left--) {
      await eventually("a leader", () => leaders().length > 0);
      const [leader, another] = leaders();
      assert.ok(leader !== undefined && another === undefined);
      leader.stop.abort();
      assert.equal(await leader.ended, "stopped");
    }
    const lease = await client.get(leases, leaseRef);
    assert.equal(lease.spec?.holderIdentity, "");
    assert.equal(lease.spec.leaseTransitions, 2);
  });

  it("ends leadership while the API server is frozen, and no later than the renew deadline allows", async () => {
    const { elector, ended } = campaign("d");
    await eventually("leadership", () => elector.isLeader());
    server.pause();
    const closed = (fenced: Elector) => fenced.fence().remainingMs() <= 0;
    await eventually("the closed fence", () => closed(elector));
    assert.equal(elector.isLeader(), false);
    server.resume();
    assert.equal(await ended, "lost");
  });

  it("lets a leader that was stopped past its time write nothing after its successor's first write", async (test) => {
    const writers: string[] = [];
    const watching = new AbortController();
    test.after(() => watching.abort());
    const informer = createInformer({ client, resource: configMaps, namespace: "default", labelSelector: "by" });
    informer.onChange((change) => void writers.push(change.object.metadata.labels?.["by"] ?? ""));
    informer.start(watching.signal);
    await informer.whenSynced();

    const first = startLeader("first");
    test.after(() => first.process.kill("SIGKILL"));
    await eventually("the first leader's writes", () => writers.filter((by) => by === "first").length > 20);
    const second = startLeader("second");
    test.after(() => second.process.kill("SIGKILL"));

    first.process.kill("SIGSTOP");
    await eventually("the second leader's writes", () => writers.includes("second"));
    first.process.kill("SIGCONT");
    await once(first.process, "exit");
    assert.deepEqual(first.output(), ["leading", "lost"]);

    const takeover = writers.indexOf("second");
    await eventually("more of the second's writes", () => writers.length > takeover + 20);
    assert.ok(writers.slice(0, takeover).every((by) => by === "first"));
    assert.ok(writers.slice(takeover).every((by) => by === "second"));
  });
});

/** See leaderProcess.ts. */
const startLeader = (identity: string): { readonly process: ChildProcess; output(): string[] } => {
  const script = fileURLToPath(new URL("leaderProcess.ts", import.meta.url));
  const child = spawn(process.execPath, [script, server.kubeconfigPath, identity], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return { process: child, output: () => output.trim().split("\n") };
};
