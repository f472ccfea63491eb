import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { applyJsonPatch, type Operation } from "./jsonPatch.ts";

const pod = { metadata: { uid: "one", labels: { "a/b": "c" } } };

const table: readonly [string, readonly Operation[], unknown][] = [
  [
    "a test that holds lets the rest pass",
    [
      { op: "test", path: "/metadata/uid", value: "one" },
      { op: "add", path: "/metadata/labels/x~1y", value: "z" },
    ],
    { metadata: { uid: "one", labels: { "a/b": "c", "x/y": "z" } } },
  ],
  [
    "a test that fails ends it all",
    [
      { op: "add", path: "/metadata/labels/x", value: "z" },
      { op: "test", path: "/metadata/uid", value: "two" },
    ],
    undefined,
  ],
  ["a member is removed", [{ op: "remove", path: "/metadata/labels/a~1b" }], { metadata: { uid: "one", labels: {} } }],
  ["a member that is not there cannot be", [{ op: "remove", path: "/metadata/labels/x" }], undefined],
  ["nor replaced", [{ op: "replace", path: "/metadata/name", value: "x" }], undefined],
  ["nothing is added below what is not there", [{ op: "add", path: "/metadata/annotations/x", value: "y" }], undefined],
];

describe("a JSON patch on the fake API server", () => {
  for (const [what, operations, expected] of table)
    it(what, () => assert.deepEqual(applyJsonPatch(pod, operations), expected));
});
