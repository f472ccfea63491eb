import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ContainerState, EngineSnapshot, PodView } from "../observe/index.ts";
import { dropped, healthy, leaseOf, standbysLost, withPod, withStatus } from "../testing/engineWorld.ts";
import { electionIn, planned } from "../testing/planSummary.ts";
import { findPoison } from "./poison.ts";

const applyFault = 70;

const exit = (seq: number, exitCode = applyFault) => ({
  exitCode,
  reason: "Error",
  message: `{"seq":${seq},"error":"unknown order"}`,
});

/** The kubelet has started the container anew; or not yet; or holds it back. */
const restarted = (seq: number, exitCode?: number): Partial<PodView> => ({ lastExit: exit(seq, exitCode) });
const ended = (seq: number, exitCode?: number): Partial<PodView> => ({
  container: { kind: "terminated", ...exit(seq, exitCode) },
});
const heldBack = (seq: number): Partial<PodView> => {
  const container: ContainerState = { kind: "waiting", reason: "CrashLoopBackOff", message: "" };
  return { container, lastExit: exit(seq) };
};

const worldWith = (...pods: readonly Partial<PodView>[]): EngineSnapshot =>
  pods.reduce((world, change, ordinal) => withPod(world, ordinal, change), healthy(5));

describe("a record that stops every replica that applies it", () => {
  const found: readonly [string, readonly Partial<PodView>[], string][] = [
    ["stopped two that run again", [restarted(123), restarted(123)], "te-0 and te-1"],
    ["stopped one just now and one before", [ended(123), restarted(123)], "te-0 and te-1"],
    ["stopped two that are held back", [heldBack(123), {}, heldBack(123)], "te-0 and te-2"],
    ["stopped three", [ended(123), ended(123), heldBack(123)], "te-0 and te-1 and te-2"],
    ["stopped two beside one that another record stopped", [restarted(7), ended(123), ended(123)], "te-1 and te-2"],
  ];
  const remembers = (world: EngineSnapshot, ordinal: number, seq: number): EngineSnapshot =>
    withStatus(world, ordinal, () => ({ lastApplyFault: { seq, deaths: 1, error: "unknown order" } }));

  it("is one that the volumes of two remember, though their pods are new", () => {
    const message = findPoison(remembers(remembers(healthy(5), 1, 123), 3, 123))?.message;
    assert.match(message ?? "", /^Record 123 ended te-1 and te-3 /);
  });

  it("is one that ended a pod, and that another's volume remembers", () => {
    assert.match(findPoison(remembers(worldWith(restarted(123)), 2, 123))?.message ?? "", /te-0 and te-2/);
  });

  it("is not seen in one replica alone, however it is known", () => {
    assert.equal(findPoison(remembers(worldWith(restarted(123)), 0, 123)), undefined);
    assert.equal(findPoison(remembers(worldWith(restarted(123)), 1, 124)), undefined);
  });

  for (const [how, pods, names] of found)
    it(`is one that ${how}`, () => {
      const blockage = findPoison(worldWith(...pods));
      assert.equal(blockage?.reason, "RecordStopsReplicas");
      assert.match(blockage.message, new RegExp(`^Record 123 ended ${names} while it was applied\\.`));
      assert.match(blockage.message, /correct the engine's image/);
    });

  const innocent: readonly [string, readonly Partial<PodView>[]][] = [
    ["no replica was stopped", []],
    ["one replica was stopped: its disk or memory may be at fault", [ended(123)]],
    ["two were stopped by different records", [ended(123), ended(124)]],
    ["a number begins with the other", [ended(12), ended(123)]],
    ["two ended for other reasons", [ended(123, 1), restarted(123, 137)]],
    ["one of two ended for another reason", [ended(123), restarted(123, 1)]],
    ["the newer end of one was another", [{ ...restarted(123), ...ended(123, 0) }, ended(123)]],
    ["no record is named", [1, 2].map(() => ({ lastExit: { exitCode: applyFault, reason: "Error", message: "" } }))],
  ];
  for (const [why, pods] of innocent)
    it(`is not seen when ${why}`, () => assert.equal(findPoison(worldWith(...pods)), undefined));
});

describe("an engine with such a record", () => {
  const poisoned = (changes: Partial<PodView> = {}): EngineSnapshot =>
    [0, 1].reduce(
      (world, ordinal) => withPod(world, ordinal, { ...heldBack(123), ...changes }),
      standbysLost(dropped(healthy(), 0)),
    );

  it("gets no third victim", () => assert.equal(planned(poisoned()), "rest blocked:RecordStopsReplicas"));

  it("is healed by a corrected image: the stopped pods are replaced, which clears what they said", () => {
    const corrected = withPod(poisoned({ outdated: true }), 1, { outdated: false });
    assert.equal(planned(corrected), "tend delete te-0 blocked:RecordStopsReplicas");
    const replaced = withPod(poisoned(), 0, { container: { kind: "running" }, lastExit: undefined });
    assert.equal(planned(replaced), "elect ProcessExited in 4");
  });

  it("avoids a replica that has halted where the others are enough without it", () => {
    const lost = dropped(standbysLost(healthy(5)), 0);
    const rule = { members: lost.replicas.map(({ name }) => name), k: 2 };
    const world = { ...lost, lease: leaseOf({ rule }) };
    const halted = withStatus(world, 1, () => ({ role: "halted", ready: false }));
    assert.deepEqual(electionIn(halted).avoid, ["te-1"]);
  });

  it("is left alone while a primary leads that has survived it", () => {
    const world = [1, 2].reduce((changed, ordinal) => withPod(changed, ordinal, restarted(123)), healthy());
    assert.equal(planned(world), "rest");
  });
});
