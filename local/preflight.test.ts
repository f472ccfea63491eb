import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { after, before, describe, it } from "node:test";
import { type ClusterLayout, clusterLayout } from "./cluster/layout.ts";
import { PreflightError, requirePorts } from "./preflight.ts";

describe("the ports of a cluster", () => {
  let server: Server;
  let taken: number;

  before(async () => {
    server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    taken = (server.address() as AddressInfo).port;
  });
  after(() => server.close());

  const layoutWith = (change: Partial<ClusterLayout>): ClusterLayout => ({
    ...clusterLayout("dev"),
    // An address that this machine has, and ports that nobody holds there.
    address: "127.0.0.1",
    dnsPort: 0,
    apiPort: 0,
    etcdPort: 0,
    etcdPeerPort: 0,
    ...change,
  });

  const users = [
    { port: "apiPort", user: "the API server" },
    { port: "etcdPort", user: "etcd" },
    { port: "etcdPeerPort", user: "etcd's peers" },
    { port: "dnsPort", user: "DNS" },
  ] as const;
  for (const { port, user } of users) {
    it(`are refused in one line when something holds that of ${user}`, async () => {
      await assert.rejects(requirePorts(layoutWith({ [port]: taken })), (error) => {
        assert.ok(error instanceof PreflightError);
        assert.equal(
          error.message,
          `port ${taken} on 127.0.0.1 is taken, ${user} needs it: see "ss -ltnp sport = :${taken}" for who holds it`,
        );
        return true;
      });
    });
  }

  it("are fine when nobody holds one", async () => {
    await requirePorts(layoutWith({}));
  });

  it("are tried on loopback while the cluster's address does not exist: a program on all addresses is found there", async () => {
    const wildcard = createServer();
    await new Promise<void>((resolve) => {
      wildcard.listen(0, "0.0.0.0", resolve);
    });
    const { port } = wildcard.address() as AddressInfo;
    await assert.rejects(
      requirePorts(layoutWith({ address: "10.255.255.1", apiPort: port })),
      /the API server needs it/,
    );
    wildcard.close();
  });
});
