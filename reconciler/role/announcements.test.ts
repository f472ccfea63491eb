import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ElectionOutcome } from "../act/index.ts";
import { decide, type ElectionCause, type ElectionPlan } from "../decide/index.ts";
import { dropped, healthy, now, silent, standbysLost, withReplica } from "../testing/engineWorld.ts";
import { announceElected, announceStart, announceTended } from "./announcements.ts";
import { LeaseExpectation } from "./leaseExpectation.ts";
import { NewsFilter } from "./newsFilter.ts";
import { SyncHistory } from "./syncHistory.ts";
import { Waker } from "./waker.ts";

const dead = standbysLost(dropped(healthy(), 0));
const planOf = (cause: ElectionCause, from: string | undefined = "te-0"): ElectionPlan => {
  const { plan } = decide(dead, now);
  assert.equal(plan.kind, "elect");
  return { ...plan, cause, from };
};
const elected: ElectionOutcome & { kind: "elected" } = {
  kind: "elected",
  primary: "te-1",
  epoch: 4,
  phases: { detectMs: 4, lockMs: 6, fenceMs: 3, promoteMs: 9, routeMs: 7, totalMs: 29 },
  fencedAlive: false,
};

describe("an Event about an election", () => {
  const reasonsOf = (cause: ElectionCause, outcome = elected): readonly string[] =>
    [...announceStart(planOf(cause)), ...announceElected(planOf(cause), outcome)].map(({ reason }) => reason);

  it("tells a first election, a failover and a switchover apart", () => {
    assert.deepEqual(reasonsOf("Bootstrap"), ["PrimaryElected"]);
    assert.deepEqual(reasonsOf("ProcessExited"), ["FailoverStarted", "FailoverCompleted"]);
    assert.deepEqual(reasonsOf("Rollout"), ["SwitchoverCompleted"]);
  });

  it("says who, why, and how long each phase took", () => {
    const [start] = announceStart(planOf("Silent"));
    assert.match(start?.note ?? "", /te-0 is replaced.*neither the reconciler nor the standbys heard it.*Epoch 4/);
    const [done] = announceElected(planOf("ProcessExited"), elected);
    assert.match(done?.note ?? "", /te-1 took over from te-0.*29 ms \(detect 4, lock 6, fence 3, promote 9, route 7\)/);
  });

  it("names an old primary that was alive and had to be stopped", () => {
    assert.deepEqual(reasonsOf("Silent", { ...elected, fencedAlive: true }).slice(-1), ["StalePrimaryFenced"]);
  });
});

describe("an Event about a correction", () => {
  const step = { kind: "deletePod", pod: "te-2", uid: "uid-2", why: "it is old" } as const;

  it("is written when it succeeded and a person wants to know", () => {
    assert.match(
      announceTended({ step, error: undefined, wasPrimary: false })[0]?.note ?? "",
      /te-2 is replaced, because it is old/,
    );
    assert.deepEqual(announceTended({ step, error: new Error("no"), wasPrimary: false }), []);
  });

  it("refuses a request in words", () => {
    const drop = { kind: "dropRequest", annotation: "a", value: "te-9", refusal: "te-9 is no replica" } as const;
    assert.equal(announceTended({ step: drop, error: undefined, wasPrimary: false })[0]?.reason, "SwitchoverRefused");
    assert.deepEqual(
      announceTended({ step: { ...drop, refusal: undefined }, error: undefined, wasPrimary: false }),
      [],
    );
  });
});

describe("the news filter", () => {
  const blocked = decide(
    withReplica(dead, 2, () => ({ pod: undefined, stream: undefined })),
    now,
  );
  const suspect = decide(dropped(healthy(), 0), now);
  const cutOff = decide(silent(healthy(), 0, 5_000), now);
  const well = decide(healthy(), now);
  const reasons = (filter: NewsFilter, decision: typeof well, at: number) =>
    filter.of(decision, at).map(({ reason }) => reason);

  it("tells a blockage once, and again when it came back", () => {
    const filter = new NewsFilter();
    assert.deepEqual(reasons(filter, blocked, 0), ["PromotionBlocked"]);
    assert.deepEqual(reasons(filter, blocked, 100), []);
    assert.deepEqual(reasons(filter, well, 200), []);
    assert.deepEqual(reasons(filter, blocked, 300), ["PromotionBlocked"]);
  });

  it("tells a suspicion only when it lasts", () => {
    const filter = new NewsFilter();
    assert.deepEqual(reasons(filter, suspect, 0), []);
    assert.deepEqual(reasons(filter, well, 100), []);
    assert.deepEqual(reasons(filter, suspect, 200), []);
    assert.deepEqual(reasons(filter, suspect, 600), ["PrimarySuspected"]);
    assert.deepEqual(reasons(filter, suspect, 700), []);
    assert.deepEqual(reasons(filter, cutOff, 800), []);
    assert.deepEqual(reasons(filter, cutOff, 1_200), ["ControlPathDegraded"]);
  });

  it("tells a repeated election once", () => {
    const filter = new NewsFilter();
    const failed = { kind: "failed", step: "lock", message: "unreachable" } as const;
    assert.deepEqual(
      [filter.isNewElection(planOf("Silent"), 0), filter.isNewElection(planOf("Silent"), 500)],
      [true, false],
    );
    assert.ok(filter.isNewElection(planOf("ProcessExited"), 600));
    assert.deepEqual([filter.isNewFailure(failed, 0), filter.isNewFailure(failed, 500)], [true, false]);
    assert.ok(filter.isNewFailure(failed, 100_000));
  });
});

describe("the history of synchronisation", () => {
  const all = ["te-0", "te-1"];

  it("tells that a standby is back, and after how long", () => {
    const history = new SyncHistory();
    assert.deepEqual(history.update(all, new Set(), 0), [], "never in sync: that is no loss");
    assert.deepEqual(history.update(all, new Set(all), 1_000), [], "nor a return");
    history.update(all, new Set(["te-0"]), 5_000);
    history.update(all, new Set(["te-0"]), 6_000);
    assert.deepEqual(history.update(all, new Set(all), 12_500), [{ replica: "te-1", seconds: 7.5 }]);
    assert.deepEqual(history.update(all, new Set(all), 13_000), []);
  });
});

describe("the expected Lease", () => {
  const seen = (epoch: number, holder: string) => ({
    resourceVersion: "1",
    holder,
    epoch,
    rule: undefined,
    established: true,
    seenAt: 0,
  });

  it("holds decisions up until the informer shows it, or a later one", () => {
    const expectation = new LeaseExpectation();
    assert.ok(!expectation.isPending(undefined, 0));
    expectation.expect(4, "te-1", 0);
    assert.ok(expectation.isPending(seen(3, "te-0"), 10));
    assert.ok(expectation.isPending(seen(4, ""), 20));
    assert.ok(!expectation.isPending(seen(4, "te-1"), 30));
    assert.ok(!expectation.isPending(seen(3, "te-0"), 40), "it was shown once: what comes now is new");
    expectation.expect(5, "te-2", 50);
    assert.ok(!expectation.isPending(seen(6, ""), 60));
  });

  it("does not hold them up for ever", () => {
    const expectation = new LeaseExpectation();
    expectation.expect(4, "te-1", 0);
    assert.ok(!expectation.isPending(seen(3, "te-0"), 60_000));
  });
});

describe("the waker", () => {
  const never = new AbortController().signal;

  it("cuts a sleep short, and remembers a wake that came before it", async () => {
    const waker = new Waker();
    const sleeping = waker.sleep(60_000, never);
    waker.wake();
    await sleeping;
    waker.wake();
    await waker.sleep(60_000, never);
  });

  it("ends a sleep at its time, and when it is stopped", async () => {
    const waker = new Waker();
    await waker.sleep(1, never);
    const stop = new AbortController();
    const sleeping = waker.sleep(60_000, stop.signal);
    stop.abort();
    await sleeping;
    await waker.sleep(60_000, stop.signal);
  });
});
