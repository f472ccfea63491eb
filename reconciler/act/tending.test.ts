import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decide, type TendStep } from "../decide/index.ts";
import { healthy, now, withPod, withStatus } from "../testing/engineWorld.ts";
import { SimulatedEngine } from "../testing/simulatedEngine.ts";
import { runTending, StepBackoff, stepKey } from "./index.ts";

const stepsIn = (world: ReturnType<typeof healthy>): readonly TendStep[] => {
  const { plan } = decide(world, now);
  assert.equal(plan.kind, "tend");
  return plan.steps;
};

describe("corrections", () => {
  const labels = stepsIn(withPod(withPod(healthy(), 0, { role: "standby" }), 2, { role: "primary" }));

  it("are carried out, calls beside writes", async () => {
    const engine = new SimulatedEngine(3);
    const follow = stepsIn(withStatus(healthy(), 1, () => ({ upstream: null })));
    const results = await runTending([...follow, ...labels], engine.world);
    assert.deepEqual(
      results.map(({ error }) => error),
      [undefined, undefined, undefined],
    );
    assert.equal(engine.replica("te-1").upstream?.instance, "te-0");
    assert.deepEqual(
      [...engine.roles],
      [
        ["te-2", "standby"],
        ["te-0", "primary"],
      ],
    );
  });

  it("stop at the first write that fails, so that no second route is added to one that could not be removed", async () => {
    const engine = new SimulatedEngine(3);
    const results = await runTending(labels, {
      ...engine.world,
      writes: { ...engine.writes, labelRole: () => Promise.reject(new Error("unreachable")) },
    });
    assert.deepEqual(
      results.map(({ step, error }) => [stepKey(step), error?.message]),
      [["label uid-2 standby", "unreachable"]],
    );
  });

  it("report a fenced replica that still led", async () => {
    const engine = new SimulatedEngine(3);
    Object.assign(engine.replica("te-1"), { role: "primary", ledEpoch: 2 });
    const [participant] = stepsIn(withStatus(healthy(), 1, () => ({ upstream: null })));
    assert.equal(participant?.kind, "follow");
    const [result] = await runTending([{ kind: "fence", replica: participant.replica, epoch: 3 }], engine.world);
    assert.equal(result?.wasPrimary, true);
  });
});

describe("the backoff of a step", () => {
  it("admits it at once, then at a doubling distance up to ten seconds", () => {
    const backoff = new StepBackoff();
    const admitted: number[] = [];
    for (let time = 0; time < 40_000; time += 100) if (backoff.admit("step", time)) admitted.push(time);
    assert.deepEqual(admitted, [0, 200, 600, 1_400, 3_000, 6_200, 12_600, 22_600, 32_600]);
  });

  it("is separate for each step, and begins anew when a step was not asked for meanwhile", () => {
    const backoff = new StepBackoff();
    assert.ok(backoff.admit("one", 0));
    assert.ok(backoff.admit("two", 0));
    assert.ok(!backoff.admit("one", 100));
    backoff.keepOnly(new Set(["two"]));
    assert.ok(backoff.admit("one", 100));
    assert.ok(!backoff.admit("two", 100));
  });
});
