import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { tradingEngineCrd } from "../crd/index.ts";
import { type GeneratedFile, generatedFiles } from "./generatedFiles.ts";

const root = join(import.meta.dirname, "..", "..");

const fileNamed = (ending: string): GeneratedFile => {
  const file = generatedFiles().find(({ path }) => path.endsWith(ending));
  assert.ok(file !== undefined, ending);
  return file;
};

describe("generated files", () => {
  for (const { path, content } of generatedFiles()) {
    it(`${path} is what \`npm run generate\` writes`, async () => {
      assert.equal(await readFile(join(root, path), "utf8"), content, `${path} is out of date: run npm run generate`);
    });
  }

  it("the YAML is the CRD", () => assert.deepEqual(parse(fileNamed(".crd.yaml").content), tradingEngineCrd()));
});

describe("reference page", () => {
  const page = fileNamed("tradingengine.md").content;

  it("has a row for a field with its default, and for a required one", () => {
    assert.match(page, /^\| `spec\.replicas` \| integer \| `3` \|/m);
    assert.match(page, /^\| `spec\.tradingPair` \| string \| required \|/m);
  });

  it("states bounds, choices and fields inside lists", () => {
    assert.match(page, /`spec\.failoverStrategy\.syncStandbys` \| integer 0 to 6/);
    assert.match(page, /`Strict`, `Available`/);
    assert.match(page, /`status\.replicas\[\]\.role`/);
  });

  it("names all fields that share a rule in one row", () => {
    assert.match(page, /`spec\.backupPolicy\.schedule`, `spec\.backupPolicy\.restoreDrill\.schedule` \| minute/);
  });

  it("keeps every table whole: as many cells in each row as in its header", () => {
    const cells = (row: string): number => row.replaceAll("\\|", "").split("|").length;
    for (const block of page.split("\n\n")) {
      const rows = block.split("\n").filter((line) => line.startsWith("|"));
      const [header] = rows;
      if (header !== undefined) for (const row of rows) assert.equal(cells(row), cells(header), row);
    }
  });
});
