import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Digest } from "./digest.ts";
import { HashHistory } from "./hashHistory.ts";

describe("hash history", () => {
  it("keeps the latest hashes and forgets the ones before", () => {
    const history = new HashHistory(4);
    const digest = new Digest();
    const expected = new Map<number, string>();
    for (let seq = 1; seq <= 10; seq += 1) {
      digest.number(seq);
      history.add(seq, digest);
      expected.set(seq, digest.toString());
    }
    for (let seq = 7; seq <= 10; seq += 1) assert.equal(history.at(seq), expected.get(seq));
    for (const seq of [0, 1, 6, 11]) assert.equal(history.at(seq), null);
  });
});

describe("digest", () => {
  it("depends on every number, its upper half included, and on their order", () => {
    const of = (...numbers: number[]): string => {
      const digest = new Digest();
      for (const number of numbers) digest.number(number);
      return digest.toString();
    };
    const different = [of(1, 2), of(2, 1), of(1), of(2 ** 32 + 1), of(2 ** 33 + 1), of()];
    assert.equal(new Set(different).size, different.length);
  });

  it("tells texts apart that run together", () => {
    const of = (...texts: string[]): string => {
      const digest = new Digest();
      for (const text of texts) digest.text(text);
      return digest.toString();
    };
    assert.notEqual(of("ab", "c"), of("a", "bc"));
  });
});
