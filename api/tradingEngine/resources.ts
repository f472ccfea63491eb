import { z } from "zod";
import { atomic } from "../schema/atomic.ts";
import { quantity, quantityValue } from "../schema/quantity.ts";
import { withRules } from "../schema/rule.ts";

const amounts = z.record(z.string().max(63), quantity).meta({ maxProperties: 16, ...atomic });

const within = (
  requests: z.output<typeof amounts>,
  limits: z.output<typeof amounts>,
  resource: "cpu" | "memory",
): boolean => {
  const request = requests[resource];
  const limit = limits[resource];
  return request === undefined || limit === undefined || quantityValue(request) <= quantityValue(limit);
};

const celWithin = (resource: "cpu" | "memory"): string => {
  const amount = (of: string): string => `quantity(string(self.${of}['${resource}']))`;
  return [
    `!has(self.requests) || !has(self.limits)`,
    `!('${resource}' in self.requests) || !('${resource}' in self.limits)`,
    `${amount("requests")}.compareTo(${amount("limits")}) <= 0`,
  ].join(" || ");
};

const requestWithinLimit = (resource: "cpu" | "memory") => ({
  message: `resources.requests.${resource} must not be greater than resources.limits.${resource}: raise the limit or lower the request`,
  cel: celWithin(resource),
  holds: (value: { requests?: z.output<typeof amounts> | undefined; limits?: z.output<typeof amounts> | undefined }) =>
    within(value.requests ?? {}, value.limits ?? {}, resource),
});

export const resources = withRules(
  z.strictObject({
    requests: amounts.optional().describe("What the scheduler reserves for each replica, by resource name."),
    limits: amounts.optional().describe("What each replica may use at most, by resource name."),
  }),
  [requestWithinLimit("cpu"), requestWithinLimit("memory")],
)
  .prefault({})
  .describe("Compute resources of the engine's container. A change is rolled out by upgradeStrategy.");
