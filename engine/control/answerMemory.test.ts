import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { AnswerMemory } from "./answerMemory.ts";

describe("answer memory", () => {
  it("carries an operation out once, also while it is under way", async () => {
    const memory = new AnswerMemory();
    let runs = 0;
    const operation = () => Promise.resolve((runs += 1));
    assert.deepEqual(await Promise.all([memory.once("a", operation), memory.once("a", operation)]), [1, 1]);
    assert.equal(await memory.once("a", operation), 1);
    assert.equal(await memory.once("b", operation), 2);
  });

  it("lets a refused operation be tried again", async () => {
    const memory = new AnswerMemory();
    await assert.rejects(memory.once("a", () => Promise.reject(new Error("not now"))));
    assert.equal(await memory.once("a", () => Promise.resolve("done")), "done");
  });

  it("forgets the oldest of many", async () => {
    const memory = new AnswerMemory();
    let runs = 0;
    const operation = () => Promise.resolve((runs += 1));
    for (let index = 0; index <= 256; index += 1) await memory.once(`op-${index}`, operation);
    await memory.once("op-0", operation);
    assert.equal(runs, 258);
  });
});
