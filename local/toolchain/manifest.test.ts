import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { goVersion, isAtLeast } from "./go.ts";
import { cacheRoot, toolPath, tools } from "./manifest.ts";

const moduleFile = (module: string): string => join(import.meta.dirname, "go", module, "go.mod");

describe("the tool manifest", () => {
  for (const tool of Object.values(tools)) {
    it(`${tool.name} is built from a module that is pinned here`, () => {
      const text = readFileSync(moduleFile(tool.module), "utf8");
      if (tool.package === ".") {
        assert.ok(existsSync(join(import.meta.dirname, "go", tool.module, "main.go")));
        return;
      }
      const required = [...text.matchAll(/^\s*(?:require )?(\S+) (v\S+)/gm)].some(
        ([, path, version]) => path !== undefined && tool.package.startsWith(path) && version === tool.version,
      );
      assert.ok(required, `${tool.package} at ${tool.version} is not required by go/${tool.module}/go.mod`);
    });

    it(`${tool.name} needs no newer Go than is brought`, () => {
      const wanted = /^go (\S+)$/m.exec(readFileSync(moduleFile(tool.module), "utf8"))?.[1];
      assert.ok(wanted !== undefined && isAtLeast(goVersion, wanted), `${wanted} > ${goVersion}`);
    });
  }

  it("keeps two versions of a tool apart", () => {
    assert.match(toolPath("pulumi", { ENGINEKEEPER_CACHE: "/c" }), /^\/c\/tools\/pulumi-v3\.[\d.]+\/pulumi$/);
  });

  it("pins the provider to the npm package's version, or the engine warns on every run", () => {
    const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    assert.equal(`v${dependencies["@pulumi/kubernetes"] ?? ""}`, tools["pulumi-resource-kubernetes"].version);
    assert.match(
      tools["pulumi-resource-kubernetes"].link,
      new RegExp(`version=${dependencies["@pulumi/kubernetes"] ?? ""}$`),
    );
  });
});

describe("the cache", () => {
  const cases = [
    { env: { ENGINEKEEPER_CACHE: "/a", XDG_CACHE_HOME: "/b" }, root: "/a" },
    { env: { XDG_CACHE_HOME: "/b" }, root: "/b/enginekeeper" },
  ];
  for (const { env, root } of cases) {
    it(`is ${root} with ${Object.keys(env).join(" and ")}`, () => assert.equal(cacheRoot(env), root));
  }
});
