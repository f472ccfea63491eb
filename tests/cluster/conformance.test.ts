/** The conformance kit in image mode: pods, volumes, signals and exit codes of a real cluster instead of processes. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { isNotFound, namespaces } from "../../reconciler/kube/index.ts";
import { openImageHost } from "../conformance/hosts/imageHost.ts";
import { httpBed } from "../conformance/httpBed.ts";
import { httpRules } from "../conformance/rules/catalogue.ts";
import { runRules } from "../conformance/runRules.ts";
import { connectTestCluster, type TestCluster } from "./testCluster.ts";

/** One rule for each thing that only the way of running an engine decides: KILL, STOP, TERM, exit codes, volumes. */
const chosen = [
  "promise-survives-kill",
  "paused-primary-is-silent",
  "acked-survives-failover",
  "exit-64-on-bad-config",
  "exit-76-on-damaged-journal",
  "exit-77-on-foreign-data",
  "term-drains-and-exits-0",
];

const ruleDeadlineMs = 240_000;

describe("the conformance kit on a cluster", () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await connectTestCluster();
  });
  after(() => cluster.client.close());

  it("passes the reference engine's image, and leaves nothing behind", async (test) => {
    const { access, client, image, storageClassName: storageClass } = cluster;
    let namespace = "";
    const bed = httpBed(
      await openImageHost({
        access,
        image,
        helperImage: image,
        storageClass,
        progress: (message) => {
          namespace = /^namespace (.+)$/.exec(message)?.[1] ?? namespace;
        },
      }),
    );
    const rules = httpRules.filter(({ id }) => chosen.includes(id));
    assert.equal(rules.length, chosen.length);
    try {
      const results = await runRules(bed, rules, {
        jobs: 2,
        ruleDeadlineMs,
        onResult: ({ id, verdict, seen }) => test.diagnostic(`${id}: ${verdict}: ${seen}`),
      });
      assert.deepEqual(
        results.filter(({ verdict }) => verdict !== "passed"),
        [],
      );
    } finally {
      await bed.close();
    }
    await assert.rejects(client.get(namespaces, { name: namespace }), isNotFound);
  });
});
