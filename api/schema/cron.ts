/**
 * Cron schedules of five fields, as CronJob takes them.
 */
import { z } from "zod";
import { matching, withRules } from "./rule.ts";

/** One field: `*`, a value, a range or a list of these, each with an optional step. */
const field = (value: string): string => {
  const item = `(\\*|${value}(-${value})?)(/[1-9][0-9]?)?`;
  return `${item}(,${item})*`;
};

const minute = field("[0-5]?[0-9]");
const hour = field("([01]?[0-9]|2[0-3])");
const dayOfMonth = field("(0?[1-9]|[12][0-9]|3[01])");
const month = field("(0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)");
const dayOfWeek = field("([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)");

const pattern = new RegExp(`^${[minute, hour, dayOfMonth, month, dayOfWeek].join(" +")}$`);

export const cronSchedule = withRules(z.string().max(100), [
  matching(
    pattern,
    "must be a cron schedule of five fields, minute hour day-of-month month day-of-week, such as '0 */4 * * *'",
  ),
]);
