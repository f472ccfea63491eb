import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError, type ApiErrorKind } from "./errors.ts";
import { afterWatch, type NextStep, type WatchEnd } from "./watchEnd.ts";

const healthy: WatchEnd = {
  error: undefined,
  inBand: false,
  opened: true,
  received: 3,
  durationMs: 300_000,
  failingMs: 0,
};

const failed = (kind: ApiErrorKind, retryAfterMs?: number) =>
  new ApiError({ kind, message: kind, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });

const refused = { opened: false, received: 0, durationMs: 0 };
const resume: NextStep = { do: "resume" };
const resumeLater: NextStep = { do: "resumeLater", atLeastMs: 0 };
const relist = (cause: string): NextStep => ({ do: "relist", cause, now: false });

describe("what follows the end of a watch", () => {
  const cases: readonly (readonly [string, Partial<WatchEnd>, NextStep])[] = [
    ["its time was up", {}, resume],
    ["its time was up and nothing ever happened", { received: 0 }, resume],
    ["it was cut at once, without an event", { received: 0, durationMs: 999 }, relist("shortWatch")],
    ["it was cut at once, after an event", { received: 1, durationMs: 5 }, resume],
    ["its connection was reset", { error: failed("unreachable") }, resume],
    ["it fell silent", { error: failed("timeout") }, resume],
    [
      "its connection was reset at once",
      { error: failed("unreachable"), received: 0, durationMs: 5 },
      relist("shortWatch"),
    ],
    ["nobody listened", { ...refused, error: failed("unreachable"), failingMs: 600_000 }, resumeLater],
    ["nobody answered", { ...refused, error: failed("timeout") }, resumeLater],
    ["it was answered by 500", { ...refused, error: failed("server"), failingMs: 59_000 }, resumeLater],
    [
      "it was answered by 500 for a minute",
      { ...refused, error: failed("server"), failingMs: 60_000 },
      relist("server"),
    ],
    [
      "it was answered by 503 with a wait",
      { ...refused, error: failed("server", 7_000) },
      { do: "resumeLater", atLeastMs: 7_000 },
    ],
    ["it was answered by 429", { ...refused, error: failed("tooManyRequests") }, resumeLater],
    [
      "it was answered by 429 with a wait",
      { ...refused, error: failed("tooManyRequests", 9_000) },
      { do: "resumeLater", atLeastMs: 9_000 },
    ],
    ["it was answered by 410", { ...refused, error: failed("expired") }, { do: "relist", cause: "expired", now: true }],
    [
      "410 came in the stream",
      { inBand: true, error: failed("expired") },
      { do: "relist", cause: "expired", now: true },
    ],
    ["429 came in the stream", { inBand: true, error: failed("tooManyRequests") }, resumeLater],
    ["500 came in the stream", { inBand: true, error: failed("server") }, relist("server")],
    ["504 came in the stream", { inBand: true, error: failed("timeout") }, relist("timeout")],
    ["a line was not JSON", { error: failed("malformed") }, relist("malformed")],
    ["it was forbidden", { ...refused, error: failed("forbidden") }, relist("forbidden")],
    ["the kind is gone", { ...refused, error: failed("notFound") }, relist("notFound")],
  ];
  for (const [what, end, next] of cases) {
    it(`${what}: ${next.do}`, () => assert.deepEqual(afterWatch({ ...healthy, ...end }), next));
  }
});
