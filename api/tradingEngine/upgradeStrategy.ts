import { z } from "zod";

export const upgradeStrategy = z
  .strictObject({
    type: z
      .enum(["SwitchoverRolling"])
      .default("SwitchoverRolling")
      .describe(
        "SwitchoverRolling = the standbys are replaced one at a time, then a standby becomes primary in a planned switchover, then the old primary is replaced.",
      ),
  })
  .prefault({})
  .describe("How a change of image, resources or config reaches the replicas.");
