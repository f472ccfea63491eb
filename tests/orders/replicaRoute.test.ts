import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaRoute } from "./replicaRoute.ts";

const threeReplicas = () => new ReplicaRoute({ kind: "replicas", targets: ["a:1", "b:1", "c:1"] });

describe("a route over replicas", () => {
  it("starts at the first and moves to the next after a failure", () => {
    const route = threeReplicas();
    const visited = [route.target];
    for (let attempt = 0; attempt < 3; attempt++) {
      route.failed(route.target, attempt);
      visited.push(route.target);
    }
    assert.deepEqual(visited, ["a:1", "b:1", "c:1", "a:1"]);
  });

  it("moves once when many workers fail at the same replica", () => {
    const route = threeReplicas();
    for (let worker = 0; worker < 16; worker++) route.failed("a:1", 0);
    assert.equal(route.target, "b:1");
  });

  it("follows a hint to the leader", () => {
    const route = threeReplicas();
    route.redirected("a:1", "c:1", 0);
    assert.equal(route.target, "c:1");
  });

  it("follows a hint to an address outside the list, and returns to the list from there", () => {
    const route = threeReplicas();
    route.redirected("a:1", "d:1", 0);
    assert.equal(route.target, "d:1");
    route.failed("d:1", 0);
    assert.equal(route.target, "a:1");
  });

  it("does not go back to a leader that just failed, whatever a standby still believes", () => {
    const route = threeReplicas();
    route.failed("a:1", 1000);
    route.redirected("b:1", "a:1", 1010);
    assert.equal(route.target, "c:1");
  });

  it("believes the hint again later, and at once after an acknowledgement", () => {
    const later = threeReplicas();
    later.failed("a:1", 1000);
    later.redirected("b:1", "a:1", 2000);
    assert.equal(later.target, "a:1");

    const confirmed = threeReplicas();
    confirmed.failed("a:1", 1000);
    confirmed.confirmed("a:1");
    confirmed.redirected("a:1", "b:1", 1005);
    confirmed.redirected("b:1", "a:1", 1010);
    assert.equal(confirmed.target, "a:1");
  });

  it("moves on when a standby knows no leader or names itself", () => {
    for (const leader of [null, "a:1"]) {
      const route = threeReplicas();
      route.redirected("a:1", leader, 0);
      assert.equal(route.target, "b:1");
    }
  });

  it("ignores a late redirect when another worker already found the leader", () => {
    const route = threeReplicas();
    route.confirmed("c:1");
    route.redirected("a:1", "b:1", 0);
    assert.equal(route.target, "c:1");
  });

  it("says what is missing when there is no replica", () => {
    assert.throws(() => new ReplicaRoute({ kind: "replicas", targets: [] }), /name at least one host:port/);
  });
});

describe("a route through a service", () => {
  it("stays at its one address and asks for new connections instead", () => {
    const route = new ReplicaRoute({ kind: "service", target: "engine:7000" });
    route.failed("engine:7000", 0);
    route.redirected("engine:7000", "pod-1:7000", 0);
    assert.equal(route.target, "engine:7000");
    assert.equal(route.reconnects, true);
    assert.equal(threeReplicas().reconnects, false);
  });
});
