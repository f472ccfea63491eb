import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineSnapshot } from "../observe/index.ts";
import {
  dropped,
  healthy,
  now,
  podOf,
  replicaOf,
  silent,
  withPod,
  withReplica,
  withStatus,
} from "../testing/engineWorld.ts";
import { participantsOf } from "./participants.ts";

const names = (world: EngineSnapshot): readonly string[] => participantsOf(world, now).map(({ name }) => name);
const second = (world: EngineSnapshot) => participantsOf(world, now).find(({ ordinal }) => ordinal === 1);

describe("who takes part in an election", () => {
  it("is every replica, with what is needed to reach and to rank it", () => {
    assert.deepEqual(second(healthy()), {
      name: "te-1",
      ordinal: 1,
      pod: { name: "te-1", uid: "uid-1", ip: "10.0.0.2" },
      answers: true,
      ready: true,
      outdated: false,
      nodeSchedulable: true,
      role: "standby",
    });
  });

  it("is the old primary too, and a replica whose place is removed: a promise of either counts", () => {
    const world = healthy();
    const surplus = replicaOf(3, undefined, podOf(3));
    assert.deepEqual(names({ ...world, replicas: [...world.replicas, surplus] }), ["te-0", "te-1", "te-2", "te-3"]);
  });

  const absent: readonly [string, EngineSnapshot][] = [
    ["has no pod", withReplica(healthy(), 1, () => ({ pod: undefined, stream: undefined }))],
    ["has no address yet", withPod(healthy(), 1, { ip: undefined })],
  ];
  for (const [state, world] of absent)
    it(`is not a replica that ${state}`, () => assert.deepEqual(names(world), ["te-0", "te-2"]));

  const reached: readonly [string, EngineSnapshot, answers: boolean, ready: boolean][] = [
    ["whose stream broke", dropped(healthy(), 1), false, false],
    ["that was not heard for the detection time", silent(healthy(), 1, 5_000), false, false],
    ["that is a stranger on its address", withStatus(healthy(), 1, () => ({ instance: "other-1" })), false, false],
    ["that has not caught up", withStatus(healthy(), 1, () => ({ ready: false })), true, false],
    ["that is on its way out", withPod(healthy(), 1, { terminating: true }), true, false],
  ];
  for (const [what, world, answers, ready] of reached)
    it(`is also a replica ${what}: it is asked, ${answers ? "and waited for" : "not waited for"}`, () => {
      const participant = second(world);
      assert.deepEqual([participant?.answers, participant?.ready], [answers, ready]);
    });

  it("is ranked by template, node and role as the pod has them", () => {
    const { outdated, nodeSchedulable, role } =
      second(withPod(healthy(), 1, { outdated: true, nodeSchedulable: false, role: undefined })) ?? {};
    assert.deepEqual([outdated, nodeSchedulable, role], [true, false, undefined]);
  });
});
