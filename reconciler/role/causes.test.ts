import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ElectionCause } from "../decide/index.ts";
import { describeCause, type ElectionKind, kindOf } from "./causes.ts";

/** By the compiler's word every cause there is. */
const kinds: Readonly<Record<ElectionCause, ElectionKind>> = {
  Bootstrap: "first",
  PodDeleted: "failover",
  ContainerTerminated: "failover",
  ProcessExited: "failover",
  ProcessRestarted: "failover",
  Silent: "failover",
  WriteStalled: "failover",
  Resumed: "failover",
  Requested: "switchover",
  PodLeaving: "switchover",
  Rollout: "switchover",
};
const causes = Object.keys(kinds) as ElectionCause[];

describe("the cause of an election", () => {
  for (const cause of causes)
    it(`${cause} makes it a ${kinds[cause]}`, () => assert.equal(kindOf(cause), kinds[cause]));

  it("is told in words of its own, as the end of a sentence", () => {
    const words = causes.map(describeCause);
    assert.equal(new Set(words).size, causes.length);
    for (const end of words) assert.match(end, /^[a-z].*[^.]$/);
  });
});
