/** Collects from the engine's events what a run did, so that no further start of the CLI is needed to ask. */
import type { EngineEvent, StepEventMetadata } from "@pulumi/pulumi/automation/index.js";
import { fieldManagers } from "../../../api/names.ts";
import type { KubeObject } from "../../kube/index.ts";
import { ownedFieldsHash } from "../ownFields.ts";
import type { AppliedChild, PlanStep } from "./protocol.ts";

/** What the events of one run said. */
export interface RunRecord {
  readonly changes: Readonly<Record<string, number>>;
  readonly steps: readonly PlanStep[];
  readonly applied: readonly AppliedChild[];
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly errors: readonly string[];
}

export interface EventCollector {
  readonly onEvent: (event: EngineEvent) => void;
  /** What was collected so far. */
  record(): RunRecord;
}

const stackType = "pulumi:pulumi:Stack";
const kubernetesType = "kubernetes:";
/** Steps that leave the cluster as it is. */
const quiet: ReadonlySet<string> = new Set(["same", "refresh", "read"]);
/** A failing run repeats itself; more than this tells nobody anything. */
const mostErrors = 20;

export const createEventCollector = (): EventCollector => {
  let changes: Readonly<Record<string, number>> = {};
  let outputs: Readonly<Record<string, unknown>> = {};
  const steps: PlanStep[] = [];
  const applied: AppliedChild[] = [];
  const errors: string[] = [];

  const onEvent = (event: EngineEvent): void => {
    if (event.resourcePreEvent !== undefined) {
      const { metadata } = event.resourcePreEvent;
      if (!quiet.has(metadata.op)) steps.push(stepOf(metadata));
    }
    if (event.resOutputsEvent !== undefined) {
      const { metadata } = event.resOutputsEvent;
      if (metadata.type === stackType) outputs = metadata.new?.outputs ?? outputs;
      else if (metadata.type.startsWith(kubernetesType) && !quiet.has(metadata.op))
        applied.push(...appliedBy(metadata));
    }
    if (event.diagnosticEvent?.severity === "error" && errors.length < mostErrors) {
      errors.push(event.diagnosticEvent.message.trim());
    }
    if (event.summaryEvent !== undefined) {
      changes = Object.fromEntries(
        Object.entries(event.summaryEvent.resourceChanges).filter(([op, count]) => !quiet.has(op) && count > 0),
      );
    }
  };
  return { onEvent, record: () => ({ changes, steps, applied, outputs, errors }) };
};

/** `urn:pulumi:stack::project::parent$type::name` -> `Kind/name`. */
const stepOf = ({ op, urn, type, keys }: StepEventMetadata): PlanStep => ({
  op,
  resource: `${type.split(":").at(-1) ?? type}/${urn.split("::").at(-1) ?? urn}`,
  keys: keys ?? [],
});

/** The provider's outputs are the object as the API server answered the step; none after a deletion. */
const appliedBy = (step: StepEventMetadata): readonly AppliedChild[] => {
  const object = step.new?.outputs as Partial<KubeObject> | undefined;
  const { kind, metadata } = object ?? {};
  if (kind === undefined || metadata === undefined) return [];
  const { name, resourceVersion } = metadata;
  return [{ kind, name, resourceVersion, owned: ownedFieldsHash({ metadata }, fieldManagers.shape) }];
};
