import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation/index.js";
import { createEventCollector } from "./runRecord.ts";

const urnOf = (type: string, name: string) => `urn:pulumi:s::p::enginekeeper:index:TradingEngine$${type}::${name}`;

const step = (
  op: string,
  type: string,
  name: string,
  outputs: object = {},
  keys?: readonly string[],
): StepEventMetadata =>
  // The SDK's own type is far larger than what the engine sends for most steps.
  ({ op, type, urn: urnOf(type, name), keys, new: { outputs } }) as unknown as StepEventMetadata;

const event = (part: object): EngineEvent => ({ sequence: 0, timestamp: 0, ...part });

const recordOf = (...parts: readonly object[]) => {
  const collector = createEventCollector();
  for (const part of parts) collector.onEvent(event(part));
  return collector.record();
};

const service = "kubernetes:core/v1:Service";

describe("event collector", () => {
  it("tells nothing of a run that said nothing", () => {
    assert.deepEqual(recordOf(), { changes: {}, steps: [], applied: [], outputs: {}, errors: [] });
  });

  it("counts what was done, and leaves out what stayed the same", () => {
    const summary = { resourceChanges: { create: 2, same: 9, update: 0, refresh: 11 } };
    assert.deepEqual(recordOf({ summaryEvent: summary }).changes, { create: 2 });
  });

  it("lists the steps by kind and name, with what forces a replacement", () => {
    const { steps } = recordOf(
      { resourcePreEvent: { metadata: step("same", service, "a") } },
      { resourcePreEvent: { metadata: step("refresh", service, "a") } },
      { resourcePreEvent: { metadata: step("update", service, "b") } },
      { resourcePreEvent: { metadata: step("replace", "kubernetes:apps/v1:StatefulSet", "c", {}, ["spec.x"]) } },
    );
    assert.deepEqual(steps, [
      { op: "update", resource: "Service/b", keys: [] },
      { op: "replace", resource: "StatefulSet/c", keys: ["spec.x"] },
    ]);
  });

  it("notes each child that was written, under its name in the cluster", () => {
    const metadata = { name: "btc-usdt", resourceVersion: "12" };
    const done = (op: string, type: string, outputs: object) => ({
      resOutputsEvent: { metadata: step(op, type, "btc-usdt-primary", outputs) },
    });
    const { applied } = recordOf(
      done("create", service, { kind: "Service", metadata }),
      done("same", service, { kind: "Service", metadata }),
      done("delete", service, {}),
      done("create", "pulumi:providers:kubernetes", { version: "4" }),
    );
    assert.deepEqual(
      applied.map(({ kind, name, resourceVersion }) => [kind, name, resourceVersion]),
      [["Service", "btc-usdt", "12"]],
    );
  });

  it("takes the outputs from the stack itself", () => {
    const outputs = { primary: "btc-usdt-0", epoch: 3 };
    const { outputs: told } = recordOf(
      { resOutputsEvent: { metadata: step("same", service, "a", { other: 1 }) } },
      { resOutputsEvent: { metadata: step("same", "pulumi:pulumi:Stack", "stack", outputs) } },
    );
    assert.deepEqual(told, outputs);
  });

  it("keeps errors and no other messages, and not without end", () => {
    const say = (severity: string, message: string) => ({ diagnosticEvent: { severity, message, color: "never" } });
    const { errors } = recordOf(
      say("debug", "registering"),
      say("warning", "deprecated"),
      ...Array.from({ length: 50 }, (_, index) => say("error", `error ${index}\n`)),
    );
    assert.deepEqual([errors[0], errors.length], ["error 0", 20]);
  });
});
