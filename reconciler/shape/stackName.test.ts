import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { stackNameOf } from "./stackName.ts";

describe("stackNameOf", () => {
  it("is namespace and name", () => assert.equal(stackNameOf("trading", "btc-usdt"), "trading.btc-usdt"));

  const label = fc.stringMatching(/^[a-z][a-z0-9-]{0,62}$/);

  it("always fits, in Pulumi's letters", () => {
    fc.assert(fc.property(label, label, (a, b) => assert.match(stackNameOf(a, b), /^[A-Za-z0-9_.-]{1,100}$/)));
  });

  it("is another for every other engine, also where it is cut", () => {
    const namespace = "n".repeat(63);
    assert.notEqual(stackNameOf(namespace, `${"e".repeat(60)}a`), stackNameOf(namespace, `${"e".repeat(60)}b`));
    fc.assert(
      fc.property(label, label, label, label, (a, b, c, d) => {
        assert.equal(stackNameOf(a, b) === stackNameOf(c, d), a === c && b === d);
      }),
    );
  });
});
