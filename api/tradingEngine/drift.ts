import { z } from "zod";

export const drift = z
  .strictObject({
    policy: z
      .enum(["Correct", "Report"])
      .default("Correct")
      .describe("Correct = a child that was changed or deleted by hand is restored; Report = it is only reported."),
  })
  .prefault({})
  .describe("What happens when somebody else changes the engine's children.");
