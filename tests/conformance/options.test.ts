import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { parseInvocation, UsageError } from "./options.ts";

const run = { action: "run", only: [], jobs: 2, jsonFile: null };

describe("the command line of the conformance kit", () => {
  const cases: readonly [readonly string[], object][] = [
    [["--help"], { action: "help" }],
    [["--list"], { action: "list" }],
    [["--command", "node a.ts"], { ...run, target: { kind: "command", command: "node a.ts" } }],
    [["--exec", "scripts"], { ...run, target: { kind: "exec", directory: "scripts" } }],
    [
      ["--image", "a/b:1", "--storage-class", "fast"],
      {
        ...run,
        target: {
          kind: "image",
          image: "a/b:1",
          helperImage: "localhost/enginekeeper/engine:dev",
          storageClass: "fast",
        },
      },
    ],
    [
      ["--command", "x", "--only", "a", "--only", "b", "--jobs", "4", "--json", "out.json"],
      { action: "run", target: { kind: "command", command: "x" }, only: ["a", "b"], jobs: 4, jsonFile: "out.json" },
    ],
  ];
  for (const [args, invocation] of cases) {
    it(`understands ${args.join(" ")}`, () => assert.deepEqual(parseInvocation(args), invocation));
  }

  const mistakes: readonly [readonly string[], RegExp][] = [
    [[], /name one engine/],
    [["--command", "x", "--image", "y"], /name one engine/],
    [["--command", ""], /--command must not be empty/],
    [["--command", "x", "--jobs", "0"], /--jobs must be a number/],
    [["--command", "x", "--storage-class", "fast"], /belong to --image/],
    [["--unknown"], /unknown/i],
  ];
  for (const [args, message] of mistakes) {
    it(`refuses "${args.join(" ")}"`, () => {
      assert.throws(
        () => parseInvocation(args),
        (error) => error instanceof UsageError && message.test(error.message),
      );
    });
  }
});
