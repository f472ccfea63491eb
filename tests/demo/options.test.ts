import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseInvocation, UsageError } from "./options.ts";

const images = ["--engine-image", "e@sha256:1", "--operator-image", "o@sha256:2", "--storage-class", "fast"];

describe("the demo's command line", () => {
  const embedded = { kind: "embedded", cluster: "dev" };
  const context = {
    kind: "context",
    context: "prod",
    engineImage: "e@sha256:1",
    operatorImage: "o@sha256:2",
    storageClass: "fast",
  };
  const run = { action: "run", jsonFile: null, verbose: false };
  const accepted = [
    { args: [], invocation: { ...run, target: embedded } },
    {
      args: ["--json", "f.json", "--verbose"],
      invocation: { ...run, target: embedded, jsonFile: "f.json", verbose: true },
    },
    { args: ["--cluster", "test"], invocation: { ...run, target: { ...embedded, cluster: "test" } } },
    { args: ["--kind"], invocation: { ...run, target: { kind: "kind" } } },
    { args: ["--context", "prod", ...images], invocation: { ...run, target: context } },
    { args: ["--down"], invocation: { action: "down", target: embedded } },
    {
      args: ["--down", "--context", "prod"],
      invocation: { action: "down", target: { ...context, engineImage: "", operatorImage: "", storageClass: "" } },
    },
    { args: ["--help", "--kind"], invocation: { action: "help" } },
  ];
  for (const { args, invocation } of accepted) {
    it(`understands: ${args.join(" ") || "nothing"}`, () => assert.deepEqual(parseInvocation(args), invocation));
  }

  const refused = [
    { args: ["--cluster", "prod"], message: /--cluster is one of dev, test/ },
    { args: ["--kind", "--context", "prod", ...images], message: /exclude each other/ },
    { args: ["--context", "prod"], message: /--context needs --engine-image/ },
    { args: ["--context", "prod", ...images.slice(0, 4)], message: /--context needs --storage-class/ },
    { args: ["--jsno", "f"], message: /--jsno/ },
    { args: ["up"], message: /up/ },
  ];
  for (const { args, message } of refused) {
    it(`refuses: ${args.join(" ")}`, () => {
      assert.throws(
        () => parseInvocation(args),
        (error) => error instanceof UsageError && message.test(error.message),
      );
    });
  }
});
