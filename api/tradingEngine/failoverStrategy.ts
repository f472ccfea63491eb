import { z } from "zod";
import { withRules } from "../schema/rule.ts";

const shape = z.strictObject({
  mode: z
    .enum(["Automatic", "Manual"])
    .default("Automatic")
    .describe("Automatic = a dead primary is replaced at once; Manual = only when a person asks for it."),
  durability: z
    .enum(["Strict", "Available"])
    .default("Strict")
    .describe(
      "Strict = syncStandbys must be at least 1, so that the loss of any one volume loses no acknowledged order; Available = syncStandbys may be 0: an order is acknowledged once the primary's own volume holds it.",
    ),
  syncStandbys: z
    .int()
    .min(0)
    .max(6)
    .default(1)
    .describe(
      "Standbys that must hold an order durably before it is acknowledged (k); trading waits while there are fewer. Less than replicas.",
    ),
  detectionMilliseconds: z
    .int()
    .min(300)
    .max(60_000)
    .default(1000)
    .describe("Silence of the primary, towards the reconciler and its standbys, after which it is taken for dead."),
  writeStallMilliseconds: z
    .int()
    .min(500)
    .max(300_000)
    .default(3000)
    .describe(
      "Time without progress of the primary's write path after which it is replaced although it is alive. The reference engine reports a stall after 3000 and not sooner.",
    ),
  maxLagRecords: z
    .int()
    .min(0)
    .max(100_000_000)
    .default(10_000)
    .describe(
      "Reserved: a standby further behind than this many records is to count as out of sync; until then the engine's own bound holds.",
    ),
});

export const failoverStrategy = withRules(shape, [
  {
    field: ["syncStandbys"],
    message:
      "failoverStrategy.durability Strict needs syncStandbys of at least 1: set syncStandbys: 1, or durability: Available to accept that the loss of a volume loses orders",
    cel: "self.durability != 'Strict' || self.syncStandbys >= 1",
    holds: ({ durability, syncStandbys }) => durability !== "Strict" || syncStandbys >= 1,
  },
  {
    field: ["detectionMilliseconds"],
    message:
      "failoverStrategy.detectionMilliseconds must be less than writeStallMilliseconds: lower the first or raise the second, or every death would be judged as a stall",
    cel: "self.detectionMilliseconds < self.writeStallMilliseconds",
    holds: ({ detectionMilliseconds, writeStallMilliseconds }) => detectionMilliseconds < writeStallMilliseconds,
  },
])
  .prefault({})
  .describe(
    "When the primary is replaced, and what an acknowledgement promises. A change takes effect without a restart of any replica.",
  );
