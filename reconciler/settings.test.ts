import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readSettings } from "./settings.ts";

const read = (env: Record<string, string>) => readSettings(env, 42);

describe("the settings", () => {
  it("need the namespaces to watch; everything else has a default", () => {
    const settings = read({ EK_NAMESPACES: "trading, spot,trading" });
    assert.deepEqual(settings.namespaces, ["trading", "spot"]);
    assert.equal(settings.ownNamespace, "enginekeeper-system");
    assert.deepEqual([settings.metricsPort, settings.healthPort], [8080, 8081]);
    assert.match(settings.identity, /-42$/);
    assert.match(settings.scratch, new RegExp(`enginekeeper-${settings.identity}$`));
  });

  it("name the pod as the identity, and look for plugins in PULUMI_HOME", () => {
    const settings = read({ EK_NAMESPACES: "trading", EK_POD_NAME: "enginekeeper-abc", PULUMI_HOME: "/pulumi" });
    assert.equal(settings.identity, "enginekeeper-abc");
    assert.equal(settings.pluginsFolder, "/pulumi/plugins");
  });

  const wrong: readonly [string, Record<string, string>, RegExp][] = [
    ["no namespaces", {}, /EK_NAMESPACES: must name the namespaces/],
    ["a name that is none", { EK_NAMESPACES: "Trading" }, /EK_NAMESPACES: is no namespace name/],
    ["a port that is none", { EK_NAMESPACES: "trading", EK_METRICS_PORT: "http" }, /EK_METRICS_PORT: must be a number/],
    ["a level that is none", { EK_NAMESPACES: "trading", EK_LOG_LEVEL: "loud" }, /EK_LOG_LEVEL/],
  ];
  for (const [what, env, words] of wrong)
    it(`say what is wrong with ${what}`, () => assert.throws(() => read(env), words));

  it("name everything that is wrong at once", () => {
    assert.throws(() => read({ EK_UP_CONCURRENCY: "0" }), /EK_NAMESPACES.*EK_UP_CONCURRENCY/);
  });
});
