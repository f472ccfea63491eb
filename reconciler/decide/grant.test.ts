import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineSnapshot } from "../observe/index.ts";
import { dropped, healthy, leads, live, now, silent, standbysLost, withReplica } from "../testing/engineWorld.ts";
import { decide } from "./decide.ts";
import { grantMs } from "./grant.ts";

const leading = (k: number, others: readonly number[] = [1, 2]): EngineSnapshot =>
  withReplica(healthy(), 0, () => ({ stream: live(leads(0, others, k)) }));

const granted = (world: EngineSnapshot): string => {
  const { grant } = decide(world, now);
  return grant === undefined ? "nobody" : `${grant.replica.name} in ${grant.epoch} for ${grant.ttlMs}`;
};

const toTheFirst = `te-0 in 3 for ${grantMs}`;

describe("a grant", () => {
  const table: readonly [string, EngineSnapshot, string][] = [
    ["a primary whose orders no standby has to hold", leading(0), toTheFirst],
    ["the same, while a person works on the engine", paused(leading(0)), toTheFirst],
    ["a primary that its standbys can stop", leading(1), "nobody"],
    ["a primary that is alone: nobody else can lead", leading(0, []), "nobody"],
    ["a primary that is not heard", silent(leading(0), 0, 5_000), "nobody"],
    ["a primary that is dead", standbysLost(dropped(leading(0), 0)), "nobody"],
  ];
  for (const [whom, world, expected] of table)
    it(`is given to ${expected === "nobody" ? "nobody beside" : ""} ${whom}`, () =>
      assert.equal(granted(world), expected));
});

function paused(world: EngineSnapshot): EngineSnapshot {
  return { ...world, spec: { ...world.spec, paused: true } };
}
