import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { convertIncrements, fromIncrements, toIncrements, tradingRules } from "./tradingRules.ts";

const { tick, lot } = tradingRules("BTC/USDT", "0.01", "0.00001");
const half = tradingRules("X/Y", "0.5", "1");

describe("whole increments of a decimal string", () => {
  for (const [text, expected] of [
    ["100", 10_000],
    ["100.00", 10_000],
    ["0.01", 1],
    ["100.000", 10_000],
    ["0.005", null],
    ["0", null],
    ["0.00", null],
    ["-1", null],
    ["+1", null],
    ["1e3", null],
    ["NaN", null],
    ["Infinity", null],
    ["", null],
    [".5", null],
    ["1.", null],
    [" 1", null],
    ["90071992547409.91", Number.MAX_SAFE_INTEGER],
    ["90071992547409.92", null],
    ["9999999999999999999", null],
  ] as const) {
    it(`reads ${JSON.stringify(text)} as ${expected} ticks of 0.01`, () => {
      assert.equal(toIncrements(text, tick), expected);
    });
  }

  it("counts increments that are no power of ten", () => {
    assert.equal(toIncrements("2.5", half.tick), 5);
    assert.equal(toIncrements("2.4", half.tick), null);
    assert.equal(fromIncrements(5, half.tick), "2.5");
    assert.equal(fromIncrements(7, half.lot), "7");
  });

  it("writes all decimals of the increment", () => {
    assert.equal(fromIncrements(1, lot), "0.00001");
    assert.equal(fromIncrements(150_000, lot), "1.50000");
  });

  it("reads back what it writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (count) => {
        assert.equal(toIncrements(fromIncrements(count, tick), tick), count);
      }),
    );
  });

  it("adds without the errors of floats", () => {
    const sum = (toIncrements("0.10", tick) ?? 0) + (toIncrements("0.20", tick) ?? 0);
    assert.equal(fromIncrements(sum, tick), "0.30");
  });
});

describe("a change of increments", () => {
  it("keeps what is whole in the new ones", () => {
    const finer = tradingRules("BTC/USDT", "0.001", "0.00001");
    assert.equal(convertIncrements(10_000, tick, finer.tick), 100_000);
    assert.equal(convertIncrements(100_000, finer.tick, tick), 10_000);
  });

  it("tells what is not", () => {
    const coarser = tradingRules("BTC/USDT", "1", "1");
    assert.equal(convertIncrements(10_050, tick, coarser.tick), null);
  });
});

describe("trading rules", () => {
  for (const bad of ["0", "-0.01", "abc", "", "0.0"]) {
    it(`refuse a tick size of ${JSON.stringify(bad)}`, () => {
      assert.throws(() => tradingRules("BTC/USDT", bad, "1"), /tickSize must be a positive decimal/);
    });
  }
});
