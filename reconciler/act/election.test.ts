import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineRefusal, EngineUnanswered } from "../contract/index.ts";
import { decide, type ElectionPlan } from "../decide/index.ts";
import { dropped, healthy, now, standbysLost, withPod } from "../testing/engineWorld.ts";
import { type ActWorld, type EngineCalls, LeaseTaken, type RoleWrites, runElection } from "./index.ts";

/** A clock that stands still, except that sleeping moves it. */
const testClock = () => {
  let time = now;
  return {
    now: () => time,
    sleep: async (ms: number) => {
      await new Promise((resolve) => setImmediate(resolve));
      time += ms;
    },
  };
};

interface Recorded extends ActWorld {
  /** Every call and write in order. */
  readonly log: readonly string[];
}

const worldOf = (calls: Partial<EngineCalls> = {}, writes: Partial<RoleWrites> = {}): Recorded => {
  const log: string[] = [];
  const note = (line: string): void => void log.push(line);
  const durable = { epoch: 3, seq: 100 };
  const answered: EngineCalls = {
    status: () => Promise.reject(new Error("not asked")),
    fence: (replica, epoch) =>
      Promise.resolve({
        instance: replica.name,
        promised: epoch,
        durable,
        blank: false,
        wasPrimary: false,
        primaryEpoch: 0,
      }),
    promote: (replica, epoch) => Promise.resolve({ instance: replica.name, epoch, durable: { epoch, seq: 101 } }),
    follow: (replica, epoch) => Promise.resolve({ instance: replica.name, epoch, durable }),
    grant: (replica, epoch, ttlMs) => Promise.resolve({ instance: replica.name, epoch, ttlMs }),
    demote: (replica) => Promise.resolve({ instance: replica.name, final: durable }),
    setMembers: (replica, _, version) => Promise.resolve({ instance: replica.name, version, committed: 100 }),
    ...calls,
  };
  const written: RoleWrites = {
    putLease: () => Promise.resolve("8"),
    labelRole: () => Promise.resolve(),
    deletePod: () => Promise.resolve(),
    dropAnnotation: () => Promise.resolve(),
    ...writes,
  };
  return {
    log,
    clock: testClock(),
    calls: {
      status: (replica) => answered.status(replica),
      fence: (replica, epoch) => {
        note(`fence ${replica.name} ${epoch}`);
        return answered.fence(replica, epoch);
      },
      promote: (replica, epoch, minPosition, rule) => {
        note(`promote ${replica.name} ${epoch}`);
        return answered.promote(replica, epoch, minPosition, rule);
      },
      follow: (replica, epoch, upstream) => {
        note(`follow ${replica.name} ${upstream.name}`);
        return answered.follow(replica, epoch, upstream);
      },
      grant: (replica, epoch, ttlMs) => {
        note(`grant ${replica.name} ${epoch}`);
        return answered.grant(replica, epoch, ttlMs);
      },
      demote: (replica, epoch) => {
        note(`demote ${replica.name} ${epoch}`);
        return answered.demote(replica, epoch);
      },
      setMembers: (replica, epoch, version, rule) => {
        note(`members ${replica.name} k=${rule.k}`);
        return answered.setMembers(replica, epoch, version, rule);
      },
    },
    writes: {
      putLease: (change) => {
        note(`lease ${change.holder === "" ? "nobody" : change.holder} ${change.epoch}`);
        return written.putLease(change);
      },
      labelRole: (pod, role) => {
        note(`label ${pod.name} ${role}`);
        return written.labelRole(pod, role);
      },
      deletePod: (pod) => written.deletePod(pod),
      dropAnnotation: (name, value) => written.dropAnnotation(name, value),
    },
  };
};

const planIn = (world: ReturnType<typeof healthy>): ElectionPlan => {
  const { plan } = decide(world, now);
  assert.equal(plan.kind, "elect");
  return plan;
};

const failover = planIn(standbysLost(dropped(healthy(), 0)));
const switchover = planIn(withPod(healthy(), 0, { terminating: true }));
const down = () => Promise.reject(new EngineUnanswered("call", "refused", new Error("down")));
const oldIsDown: Partial<EngineCalls> = {
  fence: (replica, epoch) =>
    replica.name === "te-0"
      ? down()
      : Promise.resolve({
          instance: replica.name,
          promised: epoch,
          durable: { epoch: 3, seq: 100 },
          blank: false,
          wasPrimary: false,
          primaryEpoch: 0,
        }),
};
const refusal = (code: "STALE_EPOCH" | "BEHIND") =>
  new EngineRefusal("call", { type: "about:blank", title: code, status: 409, code });

describe("an election", () => {
  it("takes the lock, fences all at once, promotes beside telling the others, and routes last", async () => {
    const world = worldOf(oldIsDown);
    const outcome = await runElection(failover, world);
    assert.equal(outcome.kind, "elected");
    assert.deepEqual(world.log, [
      "lease nobody 4",
      "label te-0 standby",
      "fence te-0 4",
      "fence te-1 4",
      "fence te-2 4",
      "follow te-2 te-1",
      "promote te-1 4",
      "lease te-1 4",
      "label te-1 primary",
    ]);
  });

  it("says how long each phase took, the first from the first sign", async () => {
    const outcome = await runElection(failover, worldOf(oldIsDown));
    assert.equal(outcome.kind === "elected" && outcome.phases.detectMs, 5);
  });

  it("does not wait for a frozen replica once the promises are enough", async () => {
    const frozen = worldOf({
      fence: (replica, epoch) =>
        replica.name === "te-0" ? new Promise(() => undefined) : (oldIsDown.fence ?? down)(replica, epoch),
    });
    assert.equal((await runElection(failover, frozen)).kind, "elected");
  });

  it("waits a moment for one that answered before and may be further", async () => {
    const late = worldOf({
      fence: async (replica, epoch) => {
        if (replica.name === "te-2") await new Promise((resolve) => setImmediate(resolve));
        const seq = replica.name === "te-2" ? 105 : 100;
        return {
          instance: replica.name,
          promised: epoch,
          durable: { epoch: 3, seq },
          blank: false,
          wasPrimary: false,
          primaryEpoch: 0,
        };
      },
    });
    const outcome = await runElection(failover, late);
    assert.equal(outcome.kind === "elected" && outcome.primary, "te-2");
  });

  it("ends at the lock when another initiator was faster, and disturbs nobody", async () => {
    const world = worldOf({}, { putLease: () => Promise.reject(new LeaseTaken("te")) });
    assert.equal((await runElection(failover, world)).kind, "superseded");
    assert.deepEqual(world.log, ["lease nobody 4"]);
  });

  it("ends at the lock when the API server is away, and disturbs nobody", async () => {
    const world = worldOf({}, { putLease: () => Promise.reject(new Error("unreachable")) });
    const outcome = await runElection(failover, world);
    assert.equal(outcome.kind === "failed" && outcome.step, "lock");
    assert.deepEqual(world.log, ["lease nobody 4"]);
  });

  it("ends when a replica has promised a higher epoch", async () => {
    const world = worldOf({ fence: () => Promise.reject(refusal("STALE_EPOCH")) });
    assert.equal((await runElection(failover, world)).kind, "superseded");
  });

  it("promotes nobody when the promises are too few, and says what is missing", async () => {
    const world = worldOf({
      fence: (replica, epoch) => (replica.name === "te-1" ? (oldIsDown.fence ?? down)(replica, epoch) : down()),
    });
    const outcome = await runElection(failover, world);
    assert.equal(outcome.kind === "blocked" && outcome.blocked.reason, "NotEnoughPromises");
    assert.ok(!world.log.some((line) => line.startsWith("promote")));
  });

  describe("to a rule without standbys", () => {
    const alone: ElectionPlan = { ...failover, nextRule: { ...failover.nextRule, k: 0 } };

    it("grants the new primary the right to acknowledge before it is given the route", async () => {
      const world = worldOf();
      await runElection(alone, world);
      const granted = world.log.indexOf("grant te-1 4");
      assert.ok(granted > world.log.indexOf("promote te-1 4"), world.log.join());
      assert.ok(granted < world.log.indexOf("lease te-1 4"));
    });

    it("does not fail for a grant that is not answered: the next pass gives it", async () => {
      const world = worldOf({ grant: () => Promise.reject(new Error("no answer")) });
      assert.equal((await runElection(alone, world)).kind, "elected");
    });
  });

  it("leaves the route empty when the promotion is refused", async () => {
    const world = worldOf({ ...oldIsDown, promote: () => Promise.reject(refusal("BEHIND")) });
    const outcome = await runElection(failover, world);
    assert.equal(outcome.kind === "failed" && outcome.step, "promote");
    assert.ok(!world.log.includes("lease te-1 4"));
  });

  it("adds no new route while the old one could not be removed", async () => {
    const world = worldOf(oldIsDown, {
      labelRole: (_, role) => (role === "standby" ? Promise.reject(new Error("unreachable")) : Promise.resolve()),
    });
    const outcome = await runElection(failover, world);
    assert.equal(outcome.kind === "elected" && outcome.routeFailure, "the old route could not be removed: unreachable");
    assert.ok(!world.log.includes("label te-1 primary"));
    assert.ok(world.log.includes("lease te-1 4"), "the Lease says who leads all the same");
  });

  it("has failed when the Lease could not be given to the new primary: another pass records it", async () => {
    const world = worldOf(oldIsDown, {
      putLease: ({ holder }) => (holder === "" ? Promise.resolve("2") : Promise.reject(new Error("timeout"))),
    });
    const outcome = await runElection(failover, world);
    assert.equal(outcome.kind === "failed" && outcome.step, "route");
  });

  it("tells when the old primary was alive and was stopped by its fence", async () => {
    const alive = worldOf({
      fence: (replica, epoch) =>
        Promise.resolve({
          instance: replica.name,
          promised: epoch,
          durable: { epoch: 3, seq: replica.name === "te-0" ? 90 : 100 },
          blank: false,
          wasPrimary: replica.name === "te-0",
          primaryEpoch: replica.name === "te-0" ? 3 : 0,
        }),
    });
    const outcome = await runElection(failover, alive);
    assert.equal(outcome.kind === "elected" && outcome.fencedAlive, true);
  });
});

describe("a planned move", () => {
  it("has every standby hold each order, drains the primary, and keeps the route until the next one leads", async () => {
    const world = worldOf();
    const outcome = await runElection(switchover, world);
    assert.equal(outcome.kind === "elected" && outcome.primary, "te-1");
    assert.deepEqual(world.log.slice(0, 3), ["members te-0 k=2", "lease nobody 4", "demote te-0 3"]);
    const removed = world.log.indexOf("label te-0 standby");
    assert.ok(removed > world.log.indexOf("promote te-1 4") && removed < world.log.indexOf("label te-1 primary"));
  });

  it("is given up before anything is disturbed when the standbys cannot hold each order", async () => {
    const world = worldOf({ setMembers: down });
    const outcome = await runElection(switchover, world);
    assert.equal(outcome.kind === "failed" && outcome.step, "drain");
    assert.deepEqual(world.log, ["members te-0 k=2"]);
  });

  it("goes on with the fence when the primary cannot be drained", async () => {
    const outcome = await runElection(switchover, worldOf({ demote: down }));
    assert.equal(outcome.kind === "elected" && outcome.primary, "te-1");
  });
});
