import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

import { systemTimers } from "../process/timers.ts";
import { LeadershipProof } from "./leadershipProof.ts";

const create = () => {
  const time = { now: 1_000 };
  const pulses: number[] = [];
  const proof = new LeadershipProof({
    clock: () => time.now,
    timers: systemTimers,
    suspicionMs: 200,
    pulse: (ping) => pulses.push(ping),
  });
  return { time, pulses, proof };
};

/** A follower that has returned `echo`. */
const echoed =
  (echo: number) =>
  (ping: number): boolean =>
    echo >= ping;

describe("proof of leadership", () => {
  it("takes an answer to a question asked after the request, not to an earlier one", async () => {
    const { proof, pulses } = create();
    proof.tick();
    const earlier = pulses.at(-1) ?? 0;
    const proven = proof.request(1_000, echoed(earlier));
    await turn();
    const asked = pulses.at(-1) ?? 0;
    assert.ok(asked > earlier);
    proof.settle(echoed(asked));
    assert.equal(await proven, true);
  });

  it("asks once for all requests of one turn", async () => {
    const { proof, pulses } = create();
    const all = [1, 2, 3].map(() => proof.request(1_000, echoed(0)));
    await turn();
    assert.equal(pulses.length, 1);
    proof.settle(echoed(pulses[0] ?? 0));
    assert.deepEqual(await Promise.all(all), [true, true, true]);
  });

  it("asks anew when a heartbeat went out in between", async () => {
    const { proof, pulses } = create();
    const first = proof.request(1_000, echoed(0));
    proof.tick();
    const heartbeat = pulses.at(-1) ?? 0;
    const second = proof.request(1_000, echoed(0));
    proof.settle(echoed(heartbeat));
    assert.equal(await first, true);
    await turn();
    assert.ok((pulses.at(-1) ?? 0) > heartbeat, "the heartbeat was sent before the second request");
    proof.settle(echoed(pulses.at(-1) ?? 0));
    assert.equal(await second, true);
  });

  it("gives up after the deadline", async () => {
    const { proof, time } = create();
    const proven = proof.request(500, echoed(0));
    time.now += 501;
    proof.tick();
    assert.equal(await proven, false);
  });

  it("is never given once the term is over", async () => {
    const { proof } = create();
    const proven = proof.request(500, echoed(0));
    proof.abandon();
    assert.equal(await proven, false);
  });

  it("is asked of every follower after this process stood still", async () => {
    const { proof, time, pulses } = create();
    time.now += 100;
    proof.checkForPause();
    assert.equal(proof.requiredEcho, 0, "a short delay is nothing");
    time.now += 5_000;
    proof.checkForPause();
    assert.ok(proof.requiredEcho > (pulses.at(-1) ?? 0), "no acknowledgement sent before counts");
    await turn();
    assert.equal(pulses.at(-1), proof.requiredEcho);
  });
});
