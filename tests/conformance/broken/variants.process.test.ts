import assert from "node:assert/strict";
import { dirname } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { openCommandHost } from "../hosts/commandHost.ts";
import type { EngineHost } from "../hosts/engineHost.ts";
import { httpBed } from "../httpBed.ts";
import { httpRules } from "../rules/catalogue.ts";
import { lookAt } from "../runRules.ts";
import { brokenVariants } from "./variants.ts";

const entry = fileURLToPath(new URL("./main.ts", import.meta.url));
const ruleDeadlineMs = 120_000;

describe("an engine that breaks a promise", { concurrency: 4 }, () => {
  const hosts: EngineHost[] = [];
  after(() => Promise.all(hosts.map((host) => host.close())));

  for (const { name, fails, does } of brokenVariants) {
    for (const [id, seen] of Object.entries(fails)) {
      it(`${name}: ${does}, and ${id} notices`, async () => {
        const rule = httpRules.find((candidate) => candidate.id === id);
        assert.ok(rule !== undefined);
        const host = await openCommandHost({
          command: `'${process.execPath}' '${entry}' ${name}`,
          directory: dirname(entry),
        });
        hosts.push(host);
        const result = await lookAt(httpBed(host), rule, new Set(rule.needs), ruleDeadlineMs);
        assert.equal(result.verdict, "failed", result.seen);
        assert.match(result.seen, seen);
      });
    }
  }
});
