import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { FatalError } from "../process/exit.ts";
import { refuseFaults } from "../process/refuseFaults.ts";
import { readFaultSwitches } from "./faultSwitches.ts";

describe("TE_FAULTS", () => {
  it("is nothing when it is absent", () => {
    assert.deepEqual(readFaultSwitches({}), {});
  });

  it("names each fault with its number", () => {
    const text = "sync-error-after=3,sync-stall-after=40,slow-sync-ms=20,torn-write-after=0,poison-prefix=bad-";
    assert.deepEqual(readFaultSwitches({ TE_FAULTS: text }), {
      syncErrorAfter: 3,
      syncStallAfter: 40,
      slowSyncMs: 20,
      tornWriteAfter: 0,
      poisonPrefix: "bad-",
    });
  });

  const wrong: readonly [string, RegExp][] = [
    ["", /must be name=value/],
    ["sync-error-after", /must be name=value/],
    ["sync-error-after=1=2", /must be name=value/],
    ["sync-error-after=1,", /must be name=value/],
    ["sync-errors-after=1", /does not know "sync-errors-after"; there are: sync-error-after/],
    ["__proto__=1", /does not know "__proto__"/],
    ["sync-error-after=-1", /must be a whole number/],
    ["sync-error-after=", /must be a whole number/],
    ["slow-sync-ms=1e3", /must be a whole number/],
    ["slow-sync-ms=1,slow-sync-ms=2", /names slow-sync-ms twice/],
    ["poison-prefix=", /must be a part of a client id/],
    ["poison-prefix=b d", /must be a part of a client id/],
  ];
  for (const [text, message] of wrong) {
    it(`is refused as "${text}"`, () => {
      assert.throws(
        () => readFaultSwitches({ TE_FAULTS: text }),
        (error) => error instanceof FatalError && error.exitCode === 64 && message.test(error.message),
      );
    });
  }

  it("is refused by the product, whatever it says", () => {
    refuseFaults({});
    assert.throws(
      () => refuseFaults({ TE_FAULTS: "" }),
      (error) => error instanceof FatalError && error.exitCode === 64 && /is for the test image/.test(error.message),
    );
  });
});
