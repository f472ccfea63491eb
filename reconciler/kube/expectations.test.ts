import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createVirtualClock } from "../../tests/fakeApiServer/virtualClock.ts";
import { createExpectations } from "./expectations.ts";
import type { KubeObject } from "./kubeObject.ts";

const object = (uid: string, resourceVersion: string, deletionTimestamp?: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: uid,
    uid,
    resourceVersion,
    creationTimestamp: "",
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  },
});
const updated = (to: KubeObject) => ({ type: "updated", old: to, object: to }) as const;
const added = (to: KubeObject) => ({ type: "added", object: to, initial: false }) as const;
const deleted = (to: KubeObject) => ({ type: "deleted", object: to, finalStateUnknown: false }) as const;

const setUp = () => {
  const clock = createVirtualClock();
  return { clock, expectations: createExpectations({ clock }) };
};

describe("expectations", () => {
  it("trust the cache of an owner that wrote nothing", () => {
    assert.ok(setUp().expectations.fulfilled("owner"));
  });

  it("wait until the cache shows the version that was written", async () => {
    const { expectations } = setUp();
    const written = await expectations.writing("owner", () => Promise.resolve(object("a", "7")));
    assert.equal(written.metadata.resourceVersion, "7");
    assert.equal(expectations.fulfilled("owner"), false);
    assert.ok(expectations.fulfilled("another owner"));
    expectations.observe(updated(object("a", "6")));
    assert.equal(expectations.fulfilled("owner"), false);
    expectations.observe(added(object("a", "7")));
    assert.ok(expectations.fulfilled("owner"));
  });

  it("are not deceived when the cache shows the object before the write was answered", async () => {
    const { expectations } = setUp();
    await expectations.writing("owner", () => {
      assert.equal(expectations.fulfilled("owner"), false);
      expectations.observe(added(object("a", "7")));
      return Promise.resolve(object("a", "7"));
    });
    assert.ok(expectations.fulfilled("owner"));
  });

  it("trust the cache again after a write that failed", async () => {
    const { expectations } = setUp();
    await assert.rejects(expectations.writing("owner", () => Promise.reject(new Error("refused"))));
    assert.ok(expectations.fulfilled("owner"));
  });

  it("wait for each of several writes", async () => {
    const { expectations } = setUp();
    await Promise.all([
      expectations.writing("owner", () => Promise.resolve(object("a", "1"))),
      expectations.writing("owner", () => Promise.resolve(object("b", "2"))),
    ]);
    expectations.observe(added(object("a", "1")));
    assert.equal(expectations.fulfilled("owner"), false);
    expectations.observe(added(object("b", "2")));
    assert.ok(expectations.fulfilled("owner"));
  });

  for (const [what, change] of [
    ["gone", deleted(object("a", "9"))],
    ["going, held by its finalizers", updated(object("a", "9", "2026-01-01T00:00:00Z"))],
  ] as const) {
    it(`wait until the cache shows a deleted object as ${what}`, async () => {
      const { expectations } = setUp();
      await expectations.deleting("owner", object("a", "8"), () => Promise.resolve());
      expectations.observe(updated(object("a", "8")));
      assert.equal(expectations.fulfilled("owner"), false);
      expectations.observe(change);
      assert.ok(expectations.fulfilled("owner"));
    });
  }

  it("trust the cache again after a deletion that failed", async () => {
    const { expectations } = setUp();
    await assert.rejects(expectations.deleting("owner", object("a", "8"), () => Promise.reject(new Error("no"))));
    assert.ok(expectations.fulfilled("owner"));
  });

  it("give up on a version that was overwritten before the cache saw it", async () => {
    const { clock, expectations } = setUp();
    await expectations.writing("owner", () => Promise.resolve(object("a", "7")));
    await clock.advance(30_000);
    assert.equal(expectations.fulfilled("owner"), false);
    await clock.advance(1);
    assert.ok(expectations.fulfilled("owner"));
  });

  it("are forgotten with their owner", async () => {
    const { expectations } = setUp();
    await expectations.writing("owner", () => Promise.resolve(object("a", "7")));
    expectations.forget("owner");
    assert.ok(expectations.fulfilled("owner"));
  });
});
