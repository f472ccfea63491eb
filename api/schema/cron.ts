/**
 * Cron schedules of five fields, as CronJob takes them.
 */
import { z } from "zod";
import { type Rule, withRules } from "./rule.ts";

interface CronField {
  readonly name: string;
  /** Pattern of one value. */
  readonly value: string;
  /** What a person may write. */
  readonly range: string;
}

const fields: readonly CronField[] = [
  { name: "minute", value: "[0-5]?[0-9]", range: "0 to 59" },
  { name: "hour", value: "([01]?[0-9]|2[0-3])", range: "0 to 23" },
  { name: "day of the month", value: "(0?[1-9]|[12][0-9]|3[01])", range: "1 to 31" },
  {
    name: "month",
    value: "(0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)",
    range: "1 to 12 or JAN to DEC",
  },
  { name: "day of the week", value: "([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)", range: "0 to 7 or SUN to SAT" },
];

const fieldCount: Rule<string> = {
  message:
    "must be a cron schedule: five fields with one space between them, minute hour day-of-month month day-of-week, such as '0 */4 * * *'",
  cel: `self.split(' ').size() == ${fields.length}`,
  holds: (schedule) => schedule.split(" ").length === fields.length,
};

/** A field is `*`, a value, a range, or a list of these, each with an optional step. */
const fieldSyntax = ({ name, value, range }: CronField, index: number): Rule<string> => {
  const item = `(\\*|${value}(-${value})?)(/[1-9][0-9]?)?`;
  const pattern = new RegExp(`^${item}(,${item})*$`);
  const celField = `self.split(' ')[${index}]`;
  return {
    message: `${name} (field ${index + 1} of the cron schedule) must be *, a value from ${range}, a range or a list, each with an optional step such as */5`,
    cel: `self.split(' ').size() != ${fields.length} || ${celField}.matches(${JSON.stringify(pattern.source.replaceAll("\\/", "/"))})`,
    holds: (schedule) => {
      const written = schedule.split(" ");
      return written.length !== fields.length || pattern.test(written[index] ?? "");
    },
  };
};

export const cronSchedule = withRules(z.string().max(100), [fieldCount, ...fields.map(fieldSyntax)]);
