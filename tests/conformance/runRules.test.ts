import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { aStatus } from "../../engine/testing/aStatus.ts";
import type { EngineHost } from "./hosts/engineHost.ts";
import type { Rule } from "./rule.ts";
import { type RuleResult, runRules } from "./runRules.ts";
import { NotApplicable, Violation } from "./violation.ts";

/** A host whose engines are one HTTP server that says it has started and has these capabilities. */
const hostOf = async (test: TestContext, capabilities: readonly string[]): Promise<EngineHost> => {
  const server = createServer((_, response) => response.end(JSON.stringify(aStatus({ capabilities }))));
  await once(server.listen(0, "127.0.0.1"), "listening");
  test.after(() => server.close());
  const control = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const run = {
    addresses: { control, orders: control, replication: control },
    signal: () => Promise.resolve(),
    exited: Promise.resolve(0),
    output: () => Promise.resolve(""),
  };
  return {
    subject: "a fake",
    makePlace: () => Promise.resolve({ start: () => Promise.resolve(run), damageJournal: () => Promise.resolve() }),
    close: () => Promise.resolve(),
  };
};

const rule = (id: string, check: Rule["check"], needs?: Rule["needs"]): Rule => ({
  id,
  title: id,
  prevents: "nothing",
  check,
  ...(needs === undefined ? {} : { needs }),
});

const look = async (test: TestContext, rules: readonly Rule[], capabilities: readonly string[] = []) =>
  runRules(await hostOf(test, capabilities), rules, { jobs: 2, ruleDeadlineMs: 200, onResult: () => undefined });

const verdicts = (results: readonly RuleResult[]): string[] => results.map(({ id, verdict }) => `${id}: ${verdict}`);

describe("looking at rules", () => {
  it("answers them in their order, whichever ends first", async (test) => {
    const slow = rule("slow", async () => sleep(50, "seen"));
    const quick = rule("quick", () => Promise.resolve("seen"));
    assert.deepEqual(verdicts(await look(test, [slow, quick])), ["slow: passed", "quick: passed"]);
  });

  it("tells of a broken rule what was seen and what must be", async (test) => {
    const [broken] = await look(test, [rule("broken", () => Promise.reject(new Violation("200", "409")))]);
    assert.deepEqual([broken?.verdict, broken?.seen, broken?.mustBe], ["failed", "200", "409"]);
  });

  it("never passes a rule that needs what the engine does not claim", async (test) => {
    const snapshots = rule("snapshots", () => Promise.resolve("seen"), ["snapshots"]);
    assert.deepEqual(verdicts(await look(test, [snapshots])), ["snapshots: not applicable"]);
    assert.deepEqual(verdicts(await look(test, [snapshots], ["snapshots"])), ["snapshots: passed"]);
  });

  it("keeps apart what could not be tried", async (test) => {
    const [result] = await look(test, [rule("tail", () => Promise.reject(new NotApplicable("no tail")))]);
    assert.deepEqual([result?.verdict, result?.seen], ["not applicable", "no tail"]);
  });

  it("fails a rule that the engine makes impossible to look at", async (test) => {
    const [result] = await look(test, [rule("odd", () => Promise.reject(new TypeError("not a list")))]);
    assert.equal(result?.verdict, "failed");
    assert.match(result.seen, /the kit could not go on: TypeError: not a list/);
  });

  it("fails a rule that does not come to an end", async (test) => {
    const [result] = await look(test, [rule("endless", () => new Promise(() => undefined))]);
    assert.deepEqual([result?.verdict, result?.seen], ["failed", "not finished in 0.2 s"]);
  });
});
