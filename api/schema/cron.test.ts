import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { cronSchedule } from "./cron.ts";

const messagesOf = (schedule: string): readonly string[] =>
  cronSchedule.safeParse(schedule).error?.issues.map(({ message }) => message) ?? [];

describe("cronSchedule", () => {
  for (const schedule of [
    "* * * * *",
    "0 */4 * * *",
    "0 3 * * 0",
    "0,30 8-18 * * MON-FRI",
    "5 4 1-15/2 JAN,JUL 7",
    "59 23 31 12 SUN",
  ]) {
    it(`takes "${schedule}"`, () => assert.deepEqual(messagesOf(schedule), []));
  }

  const wrongField: readonly (readonly [string, RegExp])[] = [
    ["60 * * * *", /^minute \(field 1/],
    ["* 24 * * *", /^hour \(field 2/],
    ["* * 0 * *", /^day of the month \(field 3/],
    ["* * 32 * *", /^day of the month \(field 3/],
    ["* * * 13 *", /^month \(field 4/],
    ["* * * * 8", /^day of the week \(field 5/],
    ["* * * * funday", /^day of the week \(field 5/],
    ["*/0 * * * *", /^minute \(field 1/],
    ["1, * * * *", /^minute \(field 1/],
  ];
  for (const [schedule, message] of wrongField) {
    it(`names the wrong field of "${schedule}"`, () => {
      const messages = messagesOf(schedule);
      assert.equal(messages.length, 1);
      assert.match(messages[0] ?? "", message);
    });
  }

  for (const schedule of ["", "* * * *", "0 * * * * *", "@daily", "*  * * * *", "every day"]) {
    it(`asks for five fields instead of "${schedule}"`, () => {
      const messages = messagesOf(schedule);
      assert.equal(messages.length, 1);
      assert.match(messages[0] ?? "", /five fields/);
    });
  }

  it("takes every combination of values in range", () => {
    const schedules = fc.tuple(
      fc.nat(59),
      fc.nat(23),
      fc.integer({ min: 1, max: 31 }),
      fc.integer({ min: 1, max: 12 }),
      fc.nat(7),
    );
    fc.assert(fc.property(schedules, (fields) => assert.deepEqual(messagesOf(fields.join(" ")), [])));
  });
});
