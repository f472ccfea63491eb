import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runMocked, valueOf } from "../testing/mocks.ts";
import { type PlatformConfig, readPlatformConfig } from "./config.ts";

const image = { "enginekeeper:operatorImage": "operator:1" };
const environment = { EK_STACK_PASSPHRASE: "from the environment" };

const read = async (
  config: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = environment,
): Promise<PlatformConfig> => {
  const found: PlatformConfig[] = [];
  const program = () => {
    found.push(readPlatformConfig(env));
    return {};
  };
  await runMocked(program, { stack: "dev", config, secretKeys: ["enginekeeper:passphrase"] });
  const [settings] = found;
  assert.ok(settings !== undefined);
  return settings;
};

describe("configuration of the platform", () => {
  it("needs no more than an image and a passphrase", async () => {
    const { operatorImage, operatorNamespace, namespaces } = await read(image);
    assert.deepEqual(
      [operatorImage, operatorNamespace, namespaces],
      ["operator:1", "enginekeeper-system", ["trading"]],
    );
  });

  it("takes the namespaces of engines from a list", async () => {
    const { namespaces } = await read({ ...image, "enginekeeper:namespaces": '["trading","fx"]' });
    assert.deepEqual(namespaces, ["trading", "fx"]);
  });

  it("prefers the passphrase of the stack to that of the environment", async () => {
    const { passphrase } = await read({ ...image, "enginekeeper:passphrase": "from the stack" });
    assert.equal(await valueOf(passphrase), "from the stack");
  });

  it("takes the passphrase from the environment where the stack has none", async () => {
    assert.equal(await valueOf((await read(image)).passphrase), "from the environment");
  });
});

const refusals: readonly (readonly [
  what: string,
  config: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  message: RegExp,
])[] = [
  ["no image", {}, environment, /pulumi config set operatorImage/],
  ["no passphrase", image, {}, /pulumi config set --secret passphrase .*EK_STACK_PASSPHRASE/],
  ["an empty passphrase", image, { EK_STACK_PASSPHRASE: "" }, /pulumi config set --secret passphrase/],
  ["no namespace", { ...image, "enginekeeper:namespaces": "[]" }, environment, /Pulumi\.dev\.yaml.*at least one/],
  ["a name that no namespace has", { ...image, "enginekeeper:namespaces": '["A_b"]' }, environment, /0 must be a/],
  ["a namespace twice", { ...image, "enginekeeper:namespaces": '["a","a"]' }, environment, /twice/],
  [
    "engines beside the daemon",
    { ...image, "enginekeeper:namespaces": '["enginekeeper-system"]' },
    environment,
    /keep engines in another one/,
  ],
];

describe("a wrong configuration of the platform", () => {
  for (const [what, config, env, message] of refusals) {
    it(`is refused: ${what}`, async () => {
      await assert.rejects(read(config, env), { message });
    });
  }
});
