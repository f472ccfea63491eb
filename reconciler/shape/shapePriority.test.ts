import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { moreUrgent, priorityOf } from "./shapePriority.ts";

describe("shapePriority", () => {
  it("puts repair after a failover before drift, drift before an edit, and an edit before the first list", () => {
    assert.ok(priorityOf("Failover") > priorityOf("Drift"));
    assert.ok(priorityOf("Drift") > priorityOf("SpecChanged"));
    assert.ok(priorityOf("SpecChanged") > priorityOf("Resync"));
  });

  it("keeps the more urgent of two reasons", () => {
    assert.equal(moreUrgent(undefined, "Resync"), "Resync");
    assert.equal(moreUrgent("Resync", "Drift"), "Drift");
    assert.equal(moreUrgent("Failover", "SpecChanged"), "Failover");
  });
});
