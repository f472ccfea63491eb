import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { collections, podNamed, startFakeCluster, until } from "../../tests/fakeApiServer/index.ts";
import { createKubeClient } from "./client.ts";
import { keepPlacements } from "./example.ts";
import { silentLogger } from "./logger.ts";

const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8");

describe("the example of an operator", () => {
  it("is the one in the reference", async () => {
    const page = await read("../../docs/reference/kubernetes-library.md");
    assert.ok(page.includes(`\`\`\`ts\n${await read("example.ts")}\`\`\`\n`));
  });

  it("keeps a ConfigMap for each Pod, and frees its lease at the end", async (test) => {
    const { server } = await startFakeCluster(test);
    const client = createKubeClient({ access: server.access, userAgent: "example/1" });
    test.after(() => client.close());
    const placement = (name: string) =>
      server.store.get(collections.configMaps, "trading", name)?.["data"] as { readonly node: string } | undefined;
    server.store.put(collections.pods, { ...podNamed("first"), spec: { nodeName: "node-1" } });
    const stop = new AbortController();
    const options = { namespace: "trading", identity: "example-0", logger: silentLogger };
    const ended = keepPlacements(client, options, stop.signal);

    await until("the first one's node", () => placement("first")?.node === "node-1");
    server.store.put(collections.pods, { ...podNamed("second"), spec: { nodeName: "node-2" } });
    server.store.put(collections.pods, { ...podNamed("first"), spec: { nodeName: "node-3" } });
    await until("the new nodes", () => placement("first")?.node === "node-3" && placement("second")?.node === "node-2");
    server.store.remove(collections.pods, "trading", "first");
    await until("its end", () => placement("first") === undefined);

    stop.abort();
    assert.equal(await ended, "stopped");
    const lease = server.store.get(collections.leases, "trading", "placements");
    assert.equal((lease?.["spec"] as { readonly holderIdentity?: string }).holderIdentity, "");
  });
});
