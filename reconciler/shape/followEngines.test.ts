import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Change, NamespacedObject } from "../kube/index.ts";
import { followEngines, reasonOf } from "./followEngines.ts";

const engine = (generation: number, deletionTimestamp?: string, epoch = 1) => ({
  apiVersion: "enginekeeper.dev/v1alpha1",
  kind: "TradingEngine",
  metadata: {
    name: "btc-usdt",
    namespace: "trading",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
    generation,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  },
  status: { epoch },
});
const same = engine(1);

const cases: readonly [string, Change<NamespacedObject>, string | undefined][] = [
  ["there at the start", { type: "added", object: engine(1), initial: true }, "Resync"],
  ["new", { type: "added", object: engine(1), initial: false }, "Created"],
  ["another spec", { type: "updated", old: engine(1), object: engine(2) }, "SpecChanged"],
  ["only status or metadata", { type: "updated", old: engine(1), object: engine(1) }, undefined],
  ["another primary", { type: "updated", old: engine(1), object: engine(1, undefined, 2) }, "Failover"],
  ["told again", { type: "updated", old: same, object: same }, "Resync"],
  ["to be deleted", { type: "updated", old: engine(1), object: engine(2, "2026-01-01T00:00:00Z") }, "Deleted"],
  ["gone", { type: "deleted", object: engine(1), finalStateUnknown: false }, "Deleted"],
];

describe("followEngines", () => {
  for (const [title, change, reason] of cases) {
    it(`${reason === undefined ? "passes over" : `asks for ${reason} of`} an engine that is ${title}`, () =>
      assert.equal(reasonOf(change), reason));
  }

  it("asks by the engine's key until it is ended", () => {
    const handlers = new Set<(change: Change<NamespacedObject>) => void>();
    const asked: unknown[] = [];
    const end = followEngines(
      {
        onChange: (handler) => {
          handlers.add(handler);
          return () => void handlers.delete(handler);
        },
      },
      (...request) => void asked.push(request),
    );
    for (const [, change] of cases.slice(1, 4)) for (const handler of handlers) handler(change);
    assert.deepEqual(asked, [
      ["trading/btc-usdt", "Created"],
      ["trading/btc-usdt", "SpecChanged"],
    ]);
    end();
    assert.equal(handlers.size, 0);
  });
});
