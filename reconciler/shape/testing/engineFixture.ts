/** Engines and children as unit tests of the shape lane need them. */
import { apiVersion, fieldManagers, labels, tradingEngineKind } from "../../../api/names.ts";
import {
  parseTradingEngine,
  type TradingEngine,
  type TradingEngineSpecInput,
} from "../../../api/tradingEngine/index.ts";
import type { KubeObject, Resource } from "../../kube/index.ts";
import type { Child } from "../childWatch.ts";

export const namespace = "trading";
export const engineName = "btc-usdt";

/** A TradingEngine as the API server returns it; `spec` and `metadata` change single fields. */
export const engineWith = (spec: Partial<TradingEngineSpecInput> = {}, metadata: object = {}): TradingEngine => {
  const parsed = parseTradingEngine({
    apiVersion,
    kind: tradingEngineKind,
    metadata: {
      name: engineName,
      namespace,
      uid: "uid-of-engine",
      resourceVersion: "7",
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...metadata,
    },
    spec: { tradingPair: "BTC/USDT", image: "registry.example.com/engine:1.0", ...spec },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};

/** A child as the lane left it: `spec` was applied by it, whole. */
export const childOf = (
  resource: Resource<KubeObject>,
  name: string,
  spec: object = {},
  metadata: object = {},
): Child => ({
  resource,
  object: {
    apiVersion: resource.version,
    kind: resource.kind,
    metadata: {
      name,
      namespace,
      uid: `uid-of-${name}`,
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { [labels.engine]: engineName },
      managedFields: [
        {
          manager: fieldManagers.shape,
          operation: "Apply",
          time: "2026-01-01T00:00:00Z",
          fieldsV1: { "f:spec": fieldsOf(spec) },
        },
      ],
      ...metadata,
    },
    ...{ spec },
  },
});

/** The fieldsV1 of a manager that applied exactly `value`, lists as a whole. */
export const fieldsOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [`f:${key}`, fieldsOf(inner)]))
    : {};
