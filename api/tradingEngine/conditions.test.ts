import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { condition, conditionReasons, conditionTypes } from "./conditions.ts";

const now = "2026-12-01T05:00:00Z";

describe("conditions", () => {
  // The pattern of metav1.Condition.reason: other tools reject a status that breaks it.
  for (const reason of Object.keys(conditionReasons)) {
    it(`reason ${reason} is one word in the form that Kubernetes asks for`, () => {
      assert.match(reason, /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/);
    });
  }

  it("every type and reason can be written", () => {
    for (const type of Object.keys(conditionTypes)) {
      for (const reason of Object.keys(conditionReasons)) {
        const written = { type, status: "True", reason, message: "", lastTransitionTime: now, observedGeneration: 1 };
        assert.ok(condition.safeParse(written).success);
      }
    }
  });
});
