import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createVirtualClock } from "../../tests/fakeApiServer/virtualClock.ts";
import { ApiError, type ApiErrorFields } from "./errors.ts";
import { retryWaitMs, withRetries } from "./retry.ts";

const failed = (fields: Partial<ApiErrorFields>) => new ApiError({ kind: "server", message: "failed", ...fields });
const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });

describe("the wait before another try", () => {
  const cases: readonly (readonly [string, unknown, string, number, number | undefined])[] = [
    ["429 with a wait", failed({ code: 429, retryAfterMs: 2_000 }), "POST", 0, 2_000],
    ["500 with a wait", failed({ code: 500, retryAfterMs: 1_000 }), "PATCH", 9, 1_000],
    ["429 with a wait, for the eleventh time", failed({ code: 429, retryAfterMs: 1_000 }), "GET", 10, undefined],
    ["429 without a wait", failed({ code: 429 }), "GET", 0, undefined],
    ["500 without a wait", failed({ code: 500 }), "GET", 0, undefined],
    ["409 with a wait", failed({ code: 409, retryAfterMs: 1_000 }), "PUT", 0, undefined],
    ["a read on a lost connection", failed({ kind: "unreachable" }), "GET", 0, 0],
    ["a read on the fourth lost connection", failed({ kind: "unreachable" }), "GET", 3, undefined],
    ["a write on a lost connection", failed({ kind: "unreachable" }), "PATCH", 0, undefined],
    ["a read where nobody listens", failed({ kind: "unreachable", cause: refused }), "GET", 0, undefined],
    ["a timeout", failed({ kind: "timeout" }), "GET", 0, undefined],
    ["an error of ours", new TypeError("wrong"), "GET", 0, undefined],
  ];
  for (const [what, error, method, retries, wait] of cases) {
    it(`${what}: ${wait ?? "none, the caller is told"}`, () => assert.equal(retryWaitMs(error, method, retries), wait));
  }
});

describe("retries", () => {
  const busy = failed({ code: 429, retryAfterMs: 1_000 });

  it("stay within the deadline of the call, and give each try what is left of it", async () => {
    const clock = createVirtualClock();
    const left: number[] = [];
    const call = withRetries(
      { clock, method: "GET", timeoutMs: 2_500, signal: undefined, onRetry: () => undefined },
      (timeoutMs) => {
        left.push(timeoutMs);
        return Promise.reject(busy);
      },
    );
    const refused = assert.rejects(call, busy);
    await clock.advance(5_000);
    await refused;
    assert.deepEqual(left, [2_500, 1_500, 500]);
  });

  it("end with the caller's signal", async () => {
    const gone = new AbortController();
    let tries = 0;
    const call = withRetries(
      {
        clock: createVirtualClock(),
        method: "GET",
        timeoutMs: 9_999,
        signal: gone.signal,
        onRetry: () => gone.abort(),
      },
      () => {
        tries++;
        return Promise.reject(busy);
      },
    );
    await assert.rejects(call, busy);
    assert.equal(tries, 2);
  });
});
