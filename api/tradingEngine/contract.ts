import { z } from "zod";

export const contract = z
  .strictObject({
    type: z
      .enum(["http"])
      .default("http")
      .describe("How the engine is controlled: http = contract version 1 over HTTP."),
  })
  .prefault({})
  .describe("The engine contract that the image implements.");
