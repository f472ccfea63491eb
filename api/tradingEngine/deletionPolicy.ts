import { z } from "zod";

export const deletionPolicy = z
  .strictObject({
    volumes: z
      .enum(["Retain", "Delete"])
      .default("Retain")
      .describe("What becomes of the replicas' volumes when the TradingEngine is deleted."),
    deadlineSeconds: z
      .int()
      .min(30)
      .max(86_400)
      .default(600)
      .describe("Time for an orderly shutdown; after it the deletion goes on without waiting for the engine."),
  })
  .prefault({})
  .describe("How the engine is taken down when the TradingEngine is deleted.");
