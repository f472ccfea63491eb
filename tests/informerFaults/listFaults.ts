/** What befalls a list, or the whole API server, and what an informer must make of it: one test each. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Fault } from "../fakeApiServer/fault.ts";
import { type StartFaultyCluster, setUpInformer } from "./faultyCluster.ts";

const minute = 60_000;

export const describeListFaults = (startCluster: StartFaultyCluster): void => {
  describe("informer, when a list goes wrong", () => {
    const faults: readonly { readonly name: string; readonly fault: Fault; readonly times?: number }[] = [
      { name: "500", fault: { do: "status", code: 500 } },
      { name: "429", fault: { do: "status", code: 429, retryAfterSeconds: 2 } },
      { name: "403", fault: { do: "status", code: 403, reason: "Forbidden" } },
      // The client repeats a read three times by itself.
      { name: "resets", fault: { do: "reset" }, times: 4 },
      { name: "resets inside the body", fault: { do: "resetInBody" }, times: 4 },
      { name: "a body that is not JSON", fault: { do: "answer", body: "<html>" } },
      { name: "a body that ends too soon", fault: { do: "answer", body: '{"items":[' } },
      { name: "no answer", fault: { do: "stall" } },
      { name: "half an answer", fault: { do: "stallInBody" } },
    ];
    for (const { name, fault, times = 1 } of faults) {
      it(`tries again after ${name}`, async (test) => {
        const { server, clock, signal, informer } = await setUpInformer(test, startCluster);
        server.fail({ watch: false, times }, fault);
        informer.start(signal);
        const waited = await clock.advanceUntil("the sync", () => informer.hasSynced(), 500);
        assert.ok(waited >= 800);
        assert.equal(informer.store.size, 1);
      });
    }

    it("waits for an answer that is late, instead of asking again", async (test) => {
      const { server, start, lists } = await setUpInformer(test, startCluster);
      server.fail({}, { do: "delay", ms: 50 });
      await start();
      assert.equal(lists(), 1);
    });

    it("takes the newest when the version it knows has expired", async (test) => {
      const { server, clock, start, lists, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      server.fail({ watch: false, times: 1 }, { do: "status", code: 410, reason: "Expired" });
      lastWatch().sendError(410, "Expired");
      await clock.advanceUntil("the third list", () => lists() === 3);
      const [first, second, third] = server.requests.filter((request) => !request.watch).map(({ path }) => path);
      assert.match(first ?? "", /resourceVersion=0/);
      assert.match(second ?? "", /resourceVersion=[1-9]\d*&resourceVersionMatch=NotOlderThan/);
      assert.doesNotMatch(third ?? "", /resourceVersion/);
    });

    it("takes the newest when the server has not reached the version it knows", async (test) => {
      const { server, clock, start, lists, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      const fault = { do: "status", code: 504, reason: "Timeout", causes: ["ResourceVersionTooLarge"] } as const;
      server.fail({ watch: false, times: 1 }, fault);
      lastWatch().sendError(410, "Expired");
      await clock.advanceUntil("the third list", () => lists() === 3);
      const newest = server.requests.findLast((request) => !request.watch);
      assert.doesNotMatch(newest?.path ?? "", /resourceVersion/);
    });
  });

  describe("informer, when the API server is away for a minute", () => {
    it("asks at the pace of the backoff, restarts nothing and loses nothing", async (test) => {
      let failures = 0;
      const logger = { warn: () => (failures += 1), error: () => assert.fail("an error") };
      const { server, clock, start, put, has, lists, informer } = await setUpInformer(test, startCluster, { logger });
      await start();
      await clock.advance(minute);
      await server.goDown();
      await clock.advance(100);
      for (let second = 0; second < 60; second++) await clock.advance(1_000);
      // The reset, then tries after 0, 0.8, 1.6, 3.2, 6.4, 12.8 and 25.6 s.
      assert.ok(failures >= 3 && failures <= 8, `${failures} failures`);
      assert.ok(informer.lastError !== undefined);
      await put("second");
      const before = server.connections;
      await server.comeUp();
      await clock.advanceUntil("second", has("second"), 1_000);
      assert.equal(lists(), 1);
      assert.equal(server.connections, before + 1);
      assert.equal(informer.lastError, undefined);
    });
  });
};
