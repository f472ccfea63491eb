/**
 * What a person wants: the spec of a TradingEngine.
 */
import { z } from "zod";
import { type Rule, withRules } from "../schema/rule.ts";
import { backupPolicy } from "./backupPolicy.ts";
import { config } from "./config.ts";
import { contract } from "./contract.ts";
import { deletionPolicy } from "./deletionPolicy.ts";
import { drift } from "./drift.ts";
import { failoverStrategy } from "./failoverStrategy.ts";
import { image } from "./image.ts";
import { resources } from "./resources.ts";
import { storage, storageClassName } from "./storage.ts";
import { tradingPair } from "./tradingPair.ts";
import { upgradeStrategy } from "./upgradeStrategy.ts";

const replicaBounds: Rule<number> = {
  message: "replicas must be from 1 to 7: use 3 to survive the loss of one, and 1 only where an outage is acceptable",
  cel: "self >= 1 && self <= 7",
  holds: (replicas) => replicas >= 1 && replicas <= 7,
};

const shape = z.strictObject({
  tradingPair,
  image,
  replicas: withRules(z.int(), [replicaBounds])
    .default(3)
    .describe("Instances of the engine: one primary, the others standbys. Fewer than 2 is not highly available."),
  storageClassName,
  storage,
  resources,
  config,
  contract,
  failoverStrategy,
  upgradeStrategy,
  backupPolicy,
  deletionPolicy,
  drift,
  paused: z
    .boolean()
    .default(false)
    .describe("Nothing is changed while true: no update, no repair and no failover. Trading goes on."),
  hibernate: z.boolean().default(false).describe("Stops every replica and keeps the volumes while true."),
});

export const tradingEngineSpec = withRules(shape, [
  {
    field: ["failoverStrategy", "syncStandbys"],
    message:
      "failoverStrategy.syncStandbys must be less than replicas: raise replicas, or lower syncStandbys (with replicas 1: syncStandbys: 0 and durability: Available)",
    cel: "self.failoverStrategy.syncStandbys < self.replicas",
    holds: ({ failoverStrategy: { syncStandbys }, replicas }) => syncStandbys < replicas,
  },
]).describe("What is wanted.");

/** The spec after defaults. */
export type TradingEngineSpec = z.output<typeof tradingEngineSpec>;
/** The spec as people write it: what has a default may be left out. */
export type TradingEngineSpecInput = z.input<typeof tradingEngineSpec>;
