import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";

import { temporaryDirectory } from "../../../engine/testing/temporaryDirectory.ts";
import { lookAt } from "../runRules.ts";
import { brokenScripts } from "./brokenScripts.ts";
import { openExecBed } from "./execLab.ts";
import { execRules } from "./execRules.ts";

const shellEngine = join(import.meta.dirname, "..", "shellEngine");
const ruleDeadlineMs = 120_000;

describe("the engine made of shell scripts", { concurrency: 2 }, () => {
  for (const rule of execRules) {
    it(`keeps ${rule.id}`, async (test) => {
      const bed = await openExecBed(shellEngine);
      test.after(() => bed.close());
      const { verdict, seen } = await lookAt(bed, rule, await bed.capabilities(), ruleDeadlineMs);
      assert.equal(verdict, "passed", seen);
    });
  }
});

describe("a shell engine that breaks a promise", { concurrency: 2 }, () => {
  for (const { name, file, from, to, fails, seen } of brokenScripts) {
    it(`${name}, and ${fails} notices`, async (test) => {
      const folder = join(await temporaryDirectory(test), "engine");
      await cp(shellEngine, folder, { recursive: true });
      const script = await readFile(join(folder, file), "utf8");
      assert.equal(script.split(from).length, 2, `"${from}" is in ${file} once`);
      await writeFile(
        join(folder, file),
        script.replace(from, () => to),
      );
      const rule = execRules.find(({ id }) => id === fails);
      assert.ok(rule !== undefined);
      const bed = await openExecBed(folder);
      test.after(() => bed.close());
      const result = await lookAt(bed, rule, await bed.capabilities(), ruleDeadlineMs);
      assert.equal(result.verdict, "failed", result.seen);
      assert.match(result.seen, seen);
    });
  }
});

describe("the broken shell engines", () => {
  it("are one for every rule of the exec variant", () => {
    const broken = new Set(brokenScripts.map(({ fails }) => fails));
    assert.deepEqual(
      execRules.map(({ id }) => id).filter((id) => !broken.has(id)),
      [],
    );
  });

  it("lack nothing silently: without `place` the rules about orders are not applicable", async (test) => {
    const folder = join(await temporaryDirectory(test), "engine");
    await cp(shellEngine, folder, { recursive: true, filter: (path) => !path.endsWith("/place") });
    const bed = await openExecBed(folder);
    test.after(() => bed.close());
    const rule = execRules.find(({ id }) => id === "exec-fenced-is-silent");
    assert.ok(rule !== undefined);
    const { verdict } = await lookAt(bed, rule, await bed.capabilities(), ruleDeadlineMs);
    assert.equal(verdict, "not applicable");
  });
});
