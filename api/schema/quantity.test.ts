import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { byteSize, quantity, quantityValue } from "./quantity.ts";

describe("quantityValue", () => {
  const cases: readonly (readonly [string | number, number])[] = [
    ["500m", 0.5],
    ["2", 2],
    [2, 2],
    [".5", 0.5],
    ["1.5", 1.5],
    ["4Gi", 4 * 2 ** 30],
    ["1k", 1000],
    ["1Ki", 1024],
    ["3M", 3e6],
  ];
  for (const [text, value] of cases) {
    it(`reads ${JSON.stringify(text)} as ${value}`, () => assert.equal(quantityValue(text), value));
  }

  for (const text of ["", "x", "2x", "-1", "1 Gi", "Gi", "1e3"]) {
    it(`does not take ${JSON.stringify(text)} for a quantity`, () => assert.ok(Number.isNaN(quantityValue(text))));
  }

  it("grows with the digits, whatever the suffix", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.constantFrom("", "m", "k", "Mi", "Gi"), (digits, suffix) => {
        assert.ok(quantityValue(`${digits}${suffix}`) < quantityValue(`${digits + 1}${suffix}`));
      }),
    );
  });
});

describe("quantity", () => {
  it("takes text and plain numbers", () => {
    assert.ok(quantity.safeParse("500m").success);
    assert.ok(quantity.safeParse(2).success);
  });

  it("refuses less than zero, and text that is no quantity", () => {
    assert.equal(quantity.safeParse(-1).success, false);
    assert.equal(quantity.safeParse("much").success, false);
  });
});

describe("byteSize", () => {
  for (const size of ["20Gi", "500Mi", "1000000", "1T"]) {
    it(`takes ${size}`, () => assert.ok(byteSize.safeParse(size).success));
  }
  for (const size of ["0", "0Gi", "1.5Gi", "20 Gi", "-1Gi", "500m", "", "20GB"]) {
    it(`refuses ${JSON.stringify(size)}`, () => assert.equal(byteSize.safeParse(size).success, false));
  }
});
