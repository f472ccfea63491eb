import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Checkpoint,
  cleanCheckpoint,
  emptyCheckpoint,
  encryptionSalt,
  parseCheckpoint,
  recordedEpoch,
  sameState,
} from "./checkpoint.ts";

const withLatest = (latest: NonNullable<Checkpoint["checkpoint"]["latest"]>): Checkpoint => ({
  version: 3,
  checkpoint: { stack: "organization/enginekeeper-engines/trading.btc-usdt", latest },
});

describe("checkpoint", () => {
  it("of a new stack can be read back and has no salt", () => {
    const empty = emptyCheckpoint("trading.btc-usdt");
    assert.deepEqual(parseCheckpoint(JSON.stringify(empty)), empty);
    assert.equal(encryptionSalt(empty), undefined);
  });

  for (const text of ["", "{", "null", "{}", '{"version":3}', '{"version":3,"checkpoint":{}}', '{"version":3,"check']) {
    it(`is refused when it is ${text === "" ? "empty" : text}`, () => {
      assert.throws(() => parseCheckpoint(text));
    });
  }

  it("tells the salt of the passphrase, and of nothing else", () => {
    const salt = "v1:abc:v1:def:ghi";
    assert.equal(encryptionSalt(withLatest({ secrets_providers: { type: "passphrase", state: { salt } } })), salt);
    assert.equal(encryptionSalt(withLatest({ secrets_providers: { type: "awskms", state: { salt } } })), undefined);
  });

  const stackWith = (outputs: object) => withLatest({ resources: [{ type: "pulumi:pulumi:Stack", outputs }] });
  const epochs: readonly [string, Checkpoint | undefined, number][] = [
    ["no state", undefined, 0],
    ["a stack that was never updated", emptyCheckpoint("s"), 0],
    ["a stack without outputs", withLatest({ resources: [{ type: "pulumi:pulumi:Stack" }] }), 0],
    ["a stack that was updated in epoch 3", stackWith({ epoch: 3, primary: "btc-usdt-1" }), 3],
    ["outputs of another program", stackWith({ epoch: "3" }), 0],
  ];
  for (const [what, checkpoint, epoch] of epochs) {
    it(`tells epoch ${epoch} of ${what}`, () => assert.equal(recordedEpoch(checkpoint), epoch));
  }

  it("is cleaned of paths of this machine and of unfinished operations", () => {
    const dirty = withLatest({
      resources: [{ urn: "u", sourcePosition: "project:///x.ts", stackTrace: [{}], inputs: { a: 1 } }],
      pending_operations: [{ resource: {}, type: "creating" }],
    });
    assert.deepEqual(cleanCheckpoint(dirty), withLatest({ resources: [{ urn: "u", inputs: { a: 1 } }] }));
    assert.deepEqual(cleanCheckpoint(emptyCheckpoint("s")), emptyCheckpoint("s"));
  });

  it("is the same state whenever it was written and in whatever order", () => {
    const first = withLatest({
      manifest: { time: "1" },
      resources: [{ urn: "u", inputs: { a: 1, b: 2 } }, { urn: "v" }],
    });
    const later = withLatest({
      resources: [{ urn: "v" }, { inputs: { b: 2, a: 1 }, urn: "u" }],
      manifest: { time: "2" },
    });
    assert.ok(sameState(first, later));
    const secret = (ciphertext: string, ...dependencies: readonly string[]) =>
      withLatest({
        resources: [
          { urn: "u", outputs: { data: { ciphertext } }, dependencies, propertyDependencies: { data: dependencies } },
        ],
      });
    assert.ok(sameState(secret("x", "a", "b"), secret("y", "b", "a")));
    assert.ok(!sameState(secret("x", "a", "b"), secret("x", "a")));
    assert.ok(!sameState(first, withLatest({ resources: [{ urn: "u", inputs: { a: 1, b: 3 } }] })));
    assert.ok(!sameState(first, emptyCheckpoint("trading.btc-usdt")));
  });
});
