/** Decisions in one line, so that a table of them can be read. */
import assert from "node:assert/strict";
import { type Decision, decide, type ElectionPlan, type TendStep } from "../decide/index.ts";
import type { EngineSnapshot } from "../observe/index.ts";
import { blankStatus, live, now, podOf, replicaOf, worldOf } from "./engineWorld.ts";

/** The plan of a decision, and why it is blocked. */
export const summary = ({ plan, blocked }: Pick<Decision, "plan" | "blocked">): string => {
  const why = blocked === undefined ? "" : ` blocked:${blocked.reason}`;
  switch (plan.kind) {
    case "rest":
      return `rest${why}`;
    case "tend":
      return `tend ${plan.steps.map(stepSummary).join(", ")}${why}`;
    case "record":
      return `record ${plan.primary} in ${plan.epoch}`;
    case "changeRule":
      return `changeRule k=${plan.to.k} of ${plan.to.members.length}`;
    case "elect":
      return `elect ${plan.cause} in ${plan.epoch}${plan.prefer === undefined ? "" : ` prefer ${plan.prefer}`}`;
  }
};

const stepSummary = (step: TendStep): string => {
  switch (step.kind) {
    case "fence":
      return `fence ${step.replica.name} at ${step.epoch}`;
    case "follow":
      return `${step.replica.name} follows ${step.upstream.name}`;
    case "label":
      return `label ${step.pod} ${step.role}`;
    case "deletePod":
      return `delete ${step.pod}`;
    case "dropRequest":
      return step.refusal === undefined ? "drop request" : "refuse request";
  }
};

/** What is done in this world. */
export const planned = (world: EngineSnapshot): string => summary(decide(world, now));

/** The election that is held in this world; fails when none is. */
export const electionIn = (world: EngineSnapshot): ElectionPlan => {
  const { plan } = decide(world, now);
  assert.equal(plan.kind, "elect", JSON.stringify(plan));
  return plan;
};

/** n replicas that were just created. */
export const fresh = (n = 3, overrides: Parameters<typeof worldOf>[1] = {}): EngineSnapshot =>
  worldOf(
    Array.from({ length: n }, (_, ordinal) =>
      replicaOf(ordinal, live(blankStatus(ordinal)), podOf(ordinal, { role: undefined })),
    ),
    { lease: undefined, published: undefined, ...overrides },
  );

/** A person asks for this primary. */
export const requested = (pod: string): Pick<EngineSnapshot, "annotations"> => ({
  annotations: { "enginekeeper.dev/switchover-to": pod },
});
