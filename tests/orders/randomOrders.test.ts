import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { defaultMix, randomOrder, unitsToDecimal } from "./randomOrders.ts";
import { seededRandom } from "./seededRandom.ts";

describe("unitsToDecimal", () => {
  const cases = [
    { count: 1, unit: "0.01", decimal: "0.01" },
    { count: 10_000, unit: "0.01", decimal: "100.00" },
    { count: 50_000, unit: "0.00001", decimal: "0.50000" },
    { count: 3, unit: "0.25", decimal: "0.75" },
    { count: 7, unit: "5", decimal: "35" },
    { count: 123_456_789, unit: "0.00001", decimal: "1234.56789" },
  ];
  for (const { count, unit, decimal } of cases) {
    it(`${count} x ${unit} = ${decimal}`, () => assert.equal(unitsToDecimal(count, unit), decimal));
  }

  it("names what is wrong with a unit", () => {
    assert.throws(() => unitsToDecimal(1, "1e-5"), /"1e-5" is not a positive decimal/);
  });

  it("is exact where floating point is not", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 8 }), (count, decimals) => {
        const text = unitsToDecimal(count, `0.${"0".repeat(decimals - 1)}1`);
        return BigInt(text.replace(".", "")) === BigInt(count) && text.split(".")[1]?.length === decimals;
      }),
    );
  });
});

describe("randomOrder", () => {
  const draw = (seed: number, count: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: count }, (_, i) => randomOrder(`c-${i}`, defaultMix, random));
  };

  it("repeats itself for the same seed, and not for another", () => {
    assert.deepEqual(draw(7, 50), draw(7, 50));
    assert.notDeepEqual(draw(7, 50), draw(8, 50));
  });

  it("prices limit orders near the middle and market orders not at all", () => {
    for (const order of draw(1, 500)) {
      if (order.type === "market") {
        assert.equal("price" in order, false);
      } else {
        assert.ok(Number(order.price) >= 99.8 && Number(order.price) <= 100.2, order.price);
      }
      assert.ok(Number(order.quantity) > 0 && Number(order.quantity) <= 0.5, order.quantity);
    }
  });

  it("sends both sides and both types", () => {
    const kinds = new Set(draw(3, 200).map((order) => `${order.type} ${order.side}`));
    assert.deepEqual([...kinds].sort(), ["limit buy", "limit sell", "market buy", "market sell"]);
  });
});
