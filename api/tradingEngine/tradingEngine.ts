/**
 * The whole TradingEngine object, and the rules that need more than its spec.
 */
import { z } from "zod";
import { apiVersion, tradingEngineKind } from "../names.ts";
import type { Rule, TransitionRule } from "../schema/rule.ts";
import { tradingEngineSpec } from "./spec.ts";
import { tradingEngineStatus } from "./status.ts";

/** Longest name of an engine: the names of its children and their labels stay within 63 characters. */
export const longestName = 40;

const metadata = z.looseObject({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.int(),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  finalizers: z.array(z.string()).optional(),
});

export const tradingEngine = z.strictObject({
  apiVersion: z.literal(apiVersion),
  kind: z.literal(tradingEngineKind),
  metadata,
  spec: tradingEngineSpec,
  status: tradingEngineStatus.optional(),
});

/** A TradingEngine as the API server returns it, defaults applied. */
export type TradingEngine = z.output<typeof tradingEngine>;

/** Rules about the name of an engine. */
export const nameRules: readonly Rule<{ readonly metadata: { readonly name: string } }>[] = [
  {
    message: `metadata.name must be at most ${longestName} characters long, so that the names made of it stay valid: choose a shorter name, such as btc-usdt`,
    cel: `self.metadata.name.size() <= ${longestName}`,
    holds: (engine) => engine.metadata.name.length <= longestName,
  },
  {
    message:
      "metadata.name must start with a letter and hold only small letters, digits and hyphens, because Services are named after it: choose a name such as btc-usdt",
    cel: "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    holds: (engine) => /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(engine.metadata.name),
  },
];

/** An engine that never had a primary holds no order, so its volumes may still be made anew. */
const neverTraded = "oldSelf.?status.?epoch.orValue(0) == 0";

/** Spelt out with `has`: the API server cannot bound the cost of comparing optionals. */
const sameStorageClass = [
  "(!has(self.spec.storageClassName) && !has(oldSelf.spec.storageClassName))",
  "(has(self.spec.storageClassName) && has(oldSelf.spec.storageClassName) && self.spec.storageClassName == oldSelf.spec.storageClassName)",
].join(" || ");

/** Changes that the volumes of an engine forbid once it has traded. */
export const volumeRules: readonly TransitionRule[] = [
  {
    field: ["spec", "storage", "size"],
    message:
      "storage.size never shrinks once the engine has traded, because volumes cannot: keep or raise it, or restore a backup into a new TradingEngine with the smaller size",
    cel: `${neverTraded} || quantity(self.spec.storage.size).compareTo(quantity(oldSelf.spec.storage.size)) >= 0`,
  },
  {
    field: ["spec", "storageClassName"],
    message:
      "storageClassName cannot change once the engine has traded, because a volume keeps its class for life: restore a backup into a new TradingEngine with the other class",
    cel: `${neverTraded} || ${sameStorageClass}`,
  },
];
