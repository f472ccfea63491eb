import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import type { ObservedElection } from "../metrics/index.ts";
import type { EngineSnapshot } from "../observe/index.ts";
import { now } from "../testing/engineWorld.ts";
import { SimulatedEngine } from "../testing/simulatedEngine.ts";
import type { Announcement } from "./announcements.ts";
import { EngineLoop } from "./engineLoop.ts";

/** A loop around a simulated engine, with everything that it tells anybody. */
class Scene {
  readonly engine = new SimulatedEngine(3);
  readonly announced: Announcement[] = [];
  readonly elections: ObservedElection[] = [];
  readonly published: TradingEngineStatus[] = [];
  readonly warnings: string[] = [];
  readonly failedSteps: string[] = [];
  statusResets = 0;
  passes = 0;
  isLeading: boolean;
  /** What the observer shows; by default the engine as it is. */
  see: () => EngineSnapshot | undefined = () => this.engine.snapshot();
  readonly loop: EngineLoop;

  constructor(t: TestContext, { isLeading = true } = {}) {
    this.isLeading = isLeading;
    this.loop = new EngineLoop({
      observer: {
        key: { namespace: "trading", name: "te" },
        snapshot: () => {
          this.passes += 1;
          return this.see();
        },
      },
      worldOf: () => this.engine.world,
      status: {
        current: () => this.published.at(-1),
        offer: (_uid, _before, status) => this.published.push(status) > 0,
        reset: () => {
          this.statusResets += 1;
        },
      },
      shapeOf: () => undefined,
      announce: (announcement) => this.announced.push(announcement),
      metrics: {
        electionEnded: (election) => this.elections.push(election),
        stepFailed: (step) => this.failedSteps.push(step),
      },
      logger: { info: () => undefined, warn: (_fields, message) => this.warnings.push(message) },
      now: () => now,
      wall: () => new Date("2026-12-01T05:00:00.000Z"),
      isLeading: () => this.isLeading,
      newId: () => "id",
    });
    const stop = new AbortController();
    const running = this.loop.run(stop.signal);
    t.after(() => {
      stop.abort();
      return running;
    });
  }

  /** Lets followers catch up and wakes the loop, until `isTrue`. */
  async until(isTrue: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 10_000; !isTrue(); ) {
      assert.ok(Date.now() < deadline, `not in time: ${String(isTrue)}; ${this.warnings.join()}`);
      this.engine.replicate();
      this.loop.wake();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await this.loop.settled();
  }

  /** So many more passes have ended. */
  async passed(count: number): Promise<void> {
    const target = this.passes + count + 1;
    await this.until(() => this.passes >= target);
  }

  reasons(): readonly string[] {
    return this.announced.map(({ reason }) => reason);
  }
}

/** te-0 leads epoch 1, and everything is labelled. */
const trading = async (t: TestContext): Promise<Scene> => {
  const scene = new Scene(t);
  await scene.until(() => scene.engine.roles.size === 3 && scene.loop.last()?.decision.plan.kind === "rest");
  return scene;
};

describe("the loop of an engine", () => {
  it("elects a first primary, labels all pods and rests", async (t) => {
    const scene = await trading(t);
    assert.equal(scene.engine.lease?.holder, "te-0");
    assert.equal(scene.engine.lease.epoch, 1);
    assert.equal(scene.engine.roles.get("te-0"), "primary");
    assert.deepEqual(scene.reasons().slice(0, 1), ["PrimaryElected"]);
    const made = scene.engine.stepsMade;
    await scene.passed(3);
    assert.equal(scene.engine.stepsMade, made, "a healthy engine costs no call and no write");
  });

  it("replaces a dead primary once, tells of it, measures it, and asks for the repair", async (t) => {
    const scene = await trading(t);
    scene.engine.kill("te-0");
    await scene.until(() => scene.engine.lease?.epoch === 2 && scene.engine.lease.holder !== "");
    await scene.passed(3);
    assert.equal(scene.engine.lease?.epoch, 2);
    assert.equal(scene.engine.primary()?.name, "te-1");
    assert.deepEqual(
      scene.elections.map(({ kind, cause, outcome }) => `${kind} ${cause} ${outcome}`),
      ["first Bootstrap elected", "failover ProcessExited elected"],
    );
    assert.equal(typeof scene.elections[1]?.phases?.["totalMs"], "number");
    assert.ok(scene.reasons().includes("FailoverStarted") && scene.reasons().includes("FailoverCompleted"));
    const { from, to, reason, epoch } = scene.published.at(-1)?.lastFailover ?? {};
    assert.deepEqual({ from, to, reason, epoch }, { from: "te-0", to: "te-1", reason: "ProcessExited", epoch: 2 });
  });

  it("does not elect again on a copy of the Lease that is older than its own write", async (t) => {
    const scene = await trading(t);
    const { lease } = scene.engine.snapshot();
    scene.engine.kill("te-0");
    const current = scene.see;
    scene.see = () => ({ ...scene.engine.snapshot(), lease });
    await scene.until(() => scene.elections.length === 2);
    await scene.passed(5);
    assert.equal(scene.elections.length, 2);
    scene.see = current;
    await scene.passed(2);
    assert.equal(scene.loop.last()?.decision.verdict.kind, "leading");
  });

  it("records a primary whose initiator died, and owes the repair", async (t) => {
    const scene = await trading(t);
    const { lease } = scene.engine;
    assert.ok(lease);
    scene.engine.lease = { ...lease, holder: "" };
    await scene.until(() => scene.engine.lease?.holder === "te-0");
    assert.equal(scene.engine.lease.epoch, 1, "no new epoch");
  });

  it("moves the primary where a person asks, and takes the request off", async (t) => {
    const scene = await trading(t);
    scene.engine.annotations = { "enginekeeper.dev/switchover-to": "te-2" };
    await scene.until(
      () => scene.engine.lease?.holder === "te-2" && Object.keys(scene.engine.annotations).length === 0,
    );
    assert.equal(scene.elections.at(-1)?.kind, "switchover");
    assert.ok(scene.reasons().includes("SwitchoverCompleted"));
  });

  it("gives the primary another rule", async (t) => {
    const scene = await trading(t);
    const { failoverStrategy } = scene.engine.spec;
    scene.engine.spec = { ...scene.engine.spec, failoverStrategy: { ...failoverStrategy, syncStandbys: 2 } };
    await scene.until(() => scene.engine.lease?.rule?.k === 2);
    assert.equal(scene.engine.primary()?.sync?.k, 2);
  });
});

describe("a replica of the reconciler that does not lead", () => {
  it("judges, so that it can take over at once, but writes, calls and tells nothing", async (t) => {
    const scene = new Scene(t, { isLeading: false });
    await scene.until(() => scene.loop.last() !== undefined);
    await scene.passed(2);
    assert.equal(scene.loop.last()?.decision.plan.kind, "elect");
    assert.equal(scene.engine.stepsMade, 0);
    assert.deepEqual([scene.announced, scene.published, scene.elections], [[], [], []]);
    scene.isLeading = true;
    await scene.until(() => scene.engine.lease?.holder === "te-0");
  });

  it("forgets its own acts when it begins to lead: another may have acted meanwhile", async (t) => {
    const scene = await trading(t);
    scene.engine.kill("te-0");
    await scene.until(() => scene.published.at(-1)?.lastFailover !== undefined);
    scene.loop.forgetActs();
    assert.equal(scene.statusResets, 1);
  });
});

describe("what goes wrong in a pass", () => {
  it("is logged, and the next pass looks again", async (t) => {
    const scene = new Scene(t);
    const current = scene.see;
    scene.see = () => {
      throw new Error("unreadable");
    };
    await scene.until(() => scene.warnings.length >= 2);
    assert.match(scene.warnings[0] ?? "", /a pass of the role lane failed; it is repeated/);
    scene.see = current;
    await scene.until(() => scene.engine.lease?.holder === "te-0");
  });

  it("is counted when it is a correction, and told nobody as done", async (t) => {
    const scene = await trading(t);
    const { calls } = scene.engine;
    const original = { ...calls };
    Object.assign(calls, { follow: () => Promise.reject(new Error("unreachable")) });
    scene.engine.replica("te-1").upstream = null;
    await scene.until(() => scene.failedSteps.length > 0);
    Object.assign(calls, original);
    assert.deepEqual(scene.failedSteps, ["follow"]);
    assert.match(scene.warnings[0] ?? "", /a correction failed; it is tried again/);
  });

  it("is nothing at all while the engine is gone", async (t) => {
    const scene = new Scene(t);
    scene.see = () => undefined;
    await scene.passed(3);
    assert.equal(scene.loop.last(), undefined);
    assert.deepEqual(scene.warnings, []);
  });
});
