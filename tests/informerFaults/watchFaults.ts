/** What befalls a watch, and what an informer must make of it: one test each. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Fault } from "../fakeApiServer/fault.ts";
import { until } from "../fakeApiServer/until.ts";
import { type StartFaultyCluster, setUpInformer } from "./faultyCluster.ts";

const minute = 60_000;

export const describeWatchFaults = (startCluster: StartFaultyCluster): void => {
  describe("informer, when a watch goes wrong", () => {
    it("finds a half-open connection by its silence, and misses nothing that happened meanwhile", async (test) => {
      const { server, clock, start, put, has, lists, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      lastWatch().goSilent();
      await put("second");
      await clock.advance(99_000);
      assert.equal(server.watches.length, 1);
      await clock.advance(1_000);
      await until("second", has("second"));
      assert.equal(server.watches.length, 2);
      assert.equal(lists(), 1);
    });

    it("leaves a quiet watch alone for as long as bookmarks come", async (test) => {
      const { server, clock, start, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      for (let i = 0; i < 10; i++) {
        await clock.advance(minute);
        lastWatch().bookmark();
      }
      await clock.advance(minute);
      assert.equal(server.requests.length, 2);
      assert.ok(lastWatch().open);
    });

    it("watches on at once, every time, when the server ends a quiet watch in order", async (test) => {
      const { server, clock, start, lists, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      for (let ended = 1; ended <= 5; ended++) {
        await clock.advance(minute);
        lastWatch().end();
        await until("the next watch, with no time gone by", () => server.watches.length === ended + 1);
      }
      assert.equal(lists(), 1);
    });

    for (const [name, cut] of [
      ["reset", "reset"],
      ["ended", "end"],
    ] as const) {
      it(`misses nothing and resumes at once when a busy watch is ${name}`, async (test) => {
        const { start, put, has, lists, lastWatch } = await setUpInformer(test, startCluster);
        await start();
        for (let i = 0; i < 20; i++) {
          await put(`before-${i}`);
          await until("the change", has(`before-${i}`));
          lastWatch()[cut]();
          await put(`after-${i}`);
          await until("the change in the gap", has(`after-${i}`));
        }
        assert.equal(lists(), 1);
      });
    }

    const opening: readonly { readonly name: string; readonly fault: Fault }[] = [
      { name: "500", fault: { do: "status", code: 500, reason: "InternalError" } },
      { name: "503", fault: { do: "status", code: 503 } },
      { name: "504", fault: { do: "status", code: 504, reason: "Timeout" } },
      { name: "429", fault: { do: "status", code: 429, reason: "TooManyRequests" } },
      { name: "a reset", fault: { do: "reset" } },
    ];
    for (const { name, fault } of opening) {
      it(`keeps trying, slower and slower and without a list, when a watch is answered by ${name}`, async (test) => {
        const { server, clock, start, put, has, lists, watches, lastWatch } = await setUpInformer(test, startCluster);
        await start();
        server.fail({ watch: true, times: 4 }, fault);
        await clock.advance(minute);
        lastWatch().end();
        await put("second");
        const waited = await clock.advanceUntil("second", has("second"));
        assert.ok(waited >= 800 + 1_600 + 3_200 + 6_400);
        assert.equal(watches(), 6);
        assert.equal(lists(), 1);
      });
    }

    it("gives up on a watch that is never answered, and opens another", async (test) => {
      const { server, clock, start, put, has, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      server.fail({ watch: true, times: 1 }, { do: "stall" });
      await clock.advance(minute);
      lastWatch().end();
      await put("second");
      await clock.advanceUntil("second", has("second"));
    });

    it("comes back no sooner than a 429 asks for", async (test) => {
      const { server, clock, start, watches, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      server.fail({ watch: true, times: 1 }, { do: "status", code: 429, retryAfterSeconds: 20 });
      await clock.advance(minute);
      lastWatch().end();
      const waited = await clock.advanceUntil("the next watch", () => watches() === 3);
      assert.ok(waited >= 20_000);
    });

    it("lists anew when watches fail with 500 for a minute: a list may work", async (test) => {
      const { server, clock, start, put, has, lists, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      server.fail({ watch: true }, { do: "status", code: 500 });
      await clock.advance(minute);
      lastWatch().end();
      await put("second");
      await clock.advanceUntil("second", has("second"), 1_000);
      assert.equal(lists(), 2);
    });

    for (const [where, refuse] of [
      ["as the answer", "status"],
      ["inside the stream", "inBand"],
    ] as const) {
      it(`lists anew at once on 410 ${where}, and tells what it missed`, async (test) => {
        const { server, clock, start, put, remove, lists, changes, lastWatch } = await setUpInformer(
          test,
          startCluster,
        );
        await start();
        await clock.advance(minute);
        lastWatch().dropNext(2);
        await remove("first");
        await put("second");
        if (refuse === "inBand") lastWatch().sendError(410, "Expired");
        else {
          server.fail({ watch: true, times: 1 }, { do: "status", code: 410, reason: "Expired" });
          lastWatch().end();
        }
        await until("the second list", () => lists() === 2);
        await until("both changes", () => changes.length === 3);
        assert.deepEqual(changes, ["added first", "deleted first", "added second"]);
      });
    }

    it("does not hammer the server on an error inside the stream, and lists anew after the backoff", async (test) => {
      const { server, clock, start, lists, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      for (const [i, ms] of [800, 1_600, 3_200].entries()) {
        lastWatch().sendError(500, "InternalError");
        const waited = await clock.advanceUntil("the next watch", () => server.watches.length === i + 2);
        assert.ok(waited >= ms);
        assert.equal(lists(), i + 2);
      }
    });

    it("waits on a 429 inside the stream and resumes the same watch", async (test) => {
      const { server, clock, start, put, has, lists, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      lastWatch().sendError(429, "TooManyRequests");
      await put("second");
      await clock.advanceUntil("second", has("second"));
      assert.equal(lists(), 1);
      assert.equal(server.watches.length, 2);
    });

    it("does not spin on watches that are cut within a second without an event", async (test) => {
      const { clock, start, watches, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      lastWatch().end();
      assert.ok((await clock.advanceUntil("the next watch", () => watches() === 2)) >= 800);
    });

    for (const [name, line] of [
      ["not JSON", "{broken\n"],
      ["not an object", '{"type":"ADDED"}\n'],
    ] as const) {
      it(`loses no event to a line that is ${name}`, async (test) => {
        const { clock, start, put, has, lastWatch } = await setUpInformer(test, startCluster);
        await start();
        lastWatch().dropNext(1);
        await put("second");
        lastWatch().sendRaw(line);
        await clock.advanceUntil("second", has("second"));
      });
    }

    it("loses no event that is cut off in the middle of its line", async (test) => {
      const { start, put, has, changes, lists, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      await put("second");
      await until("second", has("second"));
      lastWatch().cutInNext();
      await put("third");
      await until("third", has("third"));
      assert.deepEqual(changes, ["added first", "added second", "added third"]);
      assert.equal(lists(), 1);
    });

    it("loses no event that comes after a later one", async (test) => {
      const { start, put, has, changes, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      lastWatch().swapNextTwo();
      await put("second");
      await put("third");
      await until("second", has("second"));
      assert.deepEqual(changes, ["added first", "added third", "added second"]);
    });

    // Versions are opaque and an API server keeps the order of a watch, so an informer believes the order in which it is
    // told, as client-go's does. It then also resumes from the version it was told last, and what came too early comes again.
    it("believes what it was told last, and is put right by the next watch, when events of one object change places", async (test) => {
      const { clock, start, put, step, lists, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      lastWatch().swapNextTwo();
      await put("first", 1);
      await put("first", 2);
      await until("the older event", () => step("first") === "1");
      await clock.advance(minute);
      lastWatch().end();
      await until("the newer event", () => step("first") === "2");
      assert.equal(lists(), 1);
    });

    it("tells a deletion and an addition when an object was replaced while nobody watched", async (test) => {
      const { start, put, remove, namespace, changes, informer, lastWatch } = await setUpInformer(test, startCluster);
      await start();
      const before = informer.store.get(namespace, "first");
      lastWatch().dropNext(2);
      await remove("first");
      await put("first");
      lastWatch().sendError(410, "Expired");
      await until("both changes", () => changes.length === 3);
      assert.deepEqual(changes, ["added first", "deleted first", "added first"]);
      assert.notEqual(informer.store.get(namespace, "first")?.metadata.uid, before?.metadata.uid);
    });

    it("goes on when a handler throws, also for the other handlers", async (test) => {
      const errors: string[] = [];
      const logger = { warn: () => undefined, error: (_: object, message: string) => void errors.push(message) };
      const { informer, start, put, has, changes } = await setUpInformer(test, startCluster, { logger });
      informer.onChange(() => {
        throw new Error("a fault of the handler");
      });
      await start();
      await put("second");
      await until("second", has("second"));
      assert.deepEqual(changes, ["added first", "added second"]);
      assert.equal(errors.length, 2);
    });

    it("tells nothing when a new list shows nothing new", async (test) => {
      const { start, lists, changes, lastWatch, watches } = await setUpInformer(test, startCluster);
      await start();
      lastWatch().sendError(410, "Expired");
      await until("the second list", () => lists() === 2 && watches() === 2);
      assert.deepEqual(changes, ["added first"]);
    });
  });
};
