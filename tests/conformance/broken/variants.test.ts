import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { httpRules } from "../rules/catalogue.ts";
import { brokenVariants } from "./variants.ts";

describe("the broken engines", () => {
  it("are one at least for every rule: a rule that nothing breaks proves nothing", () => {
    const broken = new Set(brokenVariants.flatMap(({ fails }) => Object.keys(fails)));
    const unbroken = httpRules.map(({ id }) => id).filter((id) => !broken.has(id));
    assert.deepEqual(unbroken, []);
  });

  it("name rules that there are, and each has a name of its own", () => {
    const ids = new Set(httpRules.map(({ id }) => id));
    assert.deepEqual(
      brokenVariants.flatMap(({ fails }) => Object.keys(fails)).filter((id) => !ids.has(id)),
      [],
    );
    assert.equal(new Set(brokenVariants.map(({ name }) => name)).size, brokenVariants.length);
  });
});

describe("the rules", () => {
  it("have an id of their own, and say what holds and what that prevents", () => {
    assert.equal(new Set(httpRules.map(({ id }) => id)).size, httpRules.length);
    for (const { id, title, prevents } of httpRules) {
      assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
      assert.match(title, /^[A-Z/0-9].*[^.]$/, id);
      assert.match(prevents, /[^.]$/, id);
    }
  });
});
