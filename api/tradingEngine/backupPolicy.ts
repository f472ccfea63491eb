import { z } from "zod";
import { cronSchedule } from "../schema/cron.ts";
import { matching, withRules } from "../schema/rule.ts";

const timeZone = withRules(z.string().max(64), [
  matching(
    /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/,
    "timeZone must be a name of the time zone database, such as Etc/UTC or Asia/Singapore",
  ),
]);

const retention = z
  .strictObject({
    keepLast: z.int().min(1).max(1000).default(6).describe("The newest backups, whatever their age."),
    keepDaily: z.int().min(0).max(1000).default(7).describe("One backup for each of so many days."),
    keepWeekly: z.int().min(0).max(1000).default(4).describe("One backup for each of so many weeks."),
  })
  .prefault({})
  .describe("Which backups are kept; a backup goes when no line keeps it.");

export const backupPolicy = z
  .strictObject({
    schedule: cronSchedule.describe("When a backup is taken, as a cron schedule of five fields."),
    timeZone: timeZone.default("Etc/UTC").describe("Time zone of the schedules."),
    method: z
      .enum(["VolumeSnapshot", "ObjectStore", "Velero"])
      .default("VolumeSnapshot")
      .describe("What takes the backup."),
    volumeSnapshotClassName: z
      .string()
      .min(1)
      .max(253)
      .optional()
      .describe("For VolumeSnapshot; absent = the default class of the volumes' driver."),
    retention,
    restoreDrill: z
      .strictObject({ schedule: cronSchedule.describe("When the newest backup is restored, as a cron schedule.") })
      .optional()
      .describe("Proves that backups can be restored."),
  })
  .optional()
  .describe("Reserved: checked and kept, but no backup is taken yet. Absent = none is wanted.");
