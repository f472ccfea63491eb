import { z } from "zod";
import { byteSize } from "../schema/quantity.ts";

export const storage = z
  .strictObject({
    size: byteSize
      .default("20Gi")
      .describe("Size of each replica's volume. It grows in place; once the engine has traded it never shrinks."),
  })
  .prefault({})
  .describe("The volume of each replica, which holds its journal and snapshots.");

export const storageClassName = z
  .string()
  .min(1)
  .max(253)
  .optional()
  .describe(
    "StorageClass of the volumes; absent = the cluster's default class. Can be corrected until the first primary is elected, and not after that.",
  );
