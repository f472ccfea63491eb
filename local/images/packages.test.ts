import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { copyPackages, packageClosure } from "./packages.ts";

describe("the packages of an image", () => {
  let root: string;
  let modules: string;

  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };

  before(() => {
    root = mkdtempSync(join(tmpdir(), "packages-test-"));
    modules = join(root, "node_modules");
    put("node_modules/app/package.json", JSON.stringify({ dependencies: { left: "1", shared: "1" } }));
    put("node_modules/app/index.js", "");
    put("node_modules/app/index.d.ts", "");
    put("node_modules/app/index.js.map", "");
    put("node_modules/app/README.md", "");
    put(
      "node_modules/left/package.json",
      JSON.stringify({ dependencies: { shared: "2" }, optionalDependencies: { absent: "1" } }),
    );
    put("node_modules/left/node_modules/shared/package.json", JSON.stringify({ dependencies: { deep: "1" } }));
    put("node_modules/shared/package.json", JSON.stringify({ dependencies: { app: "1" } }));
    put("node_modules/deep/package.json", "{}");
    put("node_modules/unrelated/package.json", "{}");
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it("are the wanted ones and all that these need, cycles and nested copies included", () => {
    assert.deepEqual(packageClosure(modules, ["app"]), ["app", "deep", "left", "shared"]);
  });

  it("carry a nested copy with the package that holds it", () => {
    const target = join(root, "image");
    copyPackages(modules, ["app"], target);
    assert.ok(existsSync(join(target, "left/node_modules/shared/package.json")));
    assert.ok(!existsSync(join(target, "unrelated")));
  });

  it("come without types, source maps and documents", () => {
    const target = join(root, "pruned");
    copyPackages(modules, ["app"], target);
    assert.ok(existsSync(join(target, "app/index.js")));
    for (const file of ["index.d.ts", "index.js.map", "README.md"])
      assert.ok(!existsSync(join(target, "app", file)), file);
  });
});
