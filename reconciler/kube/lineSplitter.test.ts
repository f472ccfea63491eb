import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createLineSplitter } from "./lineSplitter.ts";

describe("line splitter", () => {
  it("finds every complete line, wherever the bytes are cut", () => {
    const line = fc
      .string({ unit: "binary", minLength: 1 })
      .filter((text) => !text.includes("\n") && text.trim() !== "");
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 1, max: 7 }), (lines, size) => {
        const found: string[] = [];
        const push = createLineSplitter((text) => void found.push(text));
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        for (let from = 0; from < bytes.length; from += size) push(bytes.subarray(from, from + size));
        assert.deepEqual(
          found,
          Buffer.from(lines.join("\n"))
            .toString()
            .split("\n")
            .filter((text) => text !== ""),
        );
      }),
    );
  });

  it("drops blank lines and keeps an unfinished one to itself", () => {
    const found: string[] = [];
    const push = createLineSplitter((text) => void found.push(text));
    push(Buffer.from("\n\r\na\n\nb"));
    assert.deepEqual(found, ["a"]);
    push(Buffer.from("c\n"));
    assert.deepEqual(found, ["a", "bc"]);
  });
});
