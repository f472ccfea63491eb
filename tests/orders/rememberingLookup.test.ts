import assert from "node:assert/strict";
import type { LookupFunction } from "node:net";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { rememberingLookup } from "./rememberingLookup.ts";

const ask = (lookup: LookupFunction, hostname: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    lookup(hostname, {}, (error, address) => (error === null ? resolve(address) : reject(error)));
  });

describe("rememberingLookup", () => {
  it("asks once for many connections to the same name", async () => {
    let questions = 0;
    const lookup = rememberingLookup(() => {
      questions++;
      return Promise.resolve([{ address: "10.0.0.1", family: 4 }]);
    });
    const answers = await Promise.all([ask(lookup, "a"), ask(lookup, "a"), ask(lookup, "a")]);
    assert.deepEqual(answers, ["10.0.0.1", "10.0.0.1", "10.0.0.1"]);
    assert.equal(questions, 1);
  });

  it("answers with the last known address at once and takes over the new one later", async () => {
    let time = 0;
    let address = "10.0.0.1";
    const lookup = rememberingLookup(
      () => Promise.resolve([{ address, family: 4 }]),
      () => time,
    );
    await ask(lookup, "a");
    address = "10.0.0.2";
    time = 5000;
    assert.equal(await ask(lookup, "a"), "10.0.0.1");
    await setImmediate();
    assert.equal(await ask(lookup, "a"), "10.0.0.2");
  });

  it("keeps the last known address while the name server fails", async () => {
    let time = 0;
    let broken = false;
    const lookup = rememberingLookup(
      () => (broken ? Promise.reject(new Error("SERVFAIL")) : Promise.resolve([{ address: "10.0.0.1", family: 4 }])),
      () => time,
    );
    await ask(lookup, "a");
    broken = true;
    for (time of [5000, 10_000]) {
      assert.equal(await ask(lookup, "a"), "10.0.0.1");
      await setImmediate();
    }
  });

  it("passes the failure on when nothing is known", async () => {
    const lookup = rememberingLookup(() => Promise.reject(new Error("ENOTFOUND a")));
    await assert.rejects(ask(lookup, "a"), /ENOTFOUND a/);
  });

  it("answers in both forms that sockets ask for", async () => {
    const lookup = rememberingLookup(() => Promise.resolve([{ address: "::1", family: 6 }]));
    const all = await new Promise((resolve) => lookup("a", { all: true }, (_, addresses) => resolve(addresses)));
    assert.deepEqual(all, [{ address: "::1", family: 6 }]);
  });
});
