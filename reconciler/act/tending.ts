import type { TendStep } from "../decide/index.ts";
import type { ActWorld } from "./ports.ts";

/** How one step ended. */
export interface TendResult {
  readonly step: TendStep;
  readonly error: Error | undefined;
  /** The fenced replica still led an older epoch. */
  readonly wasPrimary: boolean;
}

/**
 * Carries out corrections: calls to engines in parallel, writes one after the other in the given order, because a
 * new route must not be added before the old one is gone. The first failed write ends the writes of this pass.
 */
export async function runTending(steps: readonly TendStep[], world: ActWorld): Promise<readonly TendResult[]> {
  const isCall = ({ kind }: TendStep): boolean => kind === "fence" || kind === "follow";
  const called = Promise.all(steps.filter(isCall).map((step) => runStep(step, world)));
  const written: TendResult[] = [];
  for (const step of steps) {
    if (isCall(step)) continue;
    const result = await runStep(step, world);
    written.push(result);
    if (result.error !== undefined) break;
  }
  return [...(await called), ...written];
}

async function runStep(step: TendStep, world: ActWorld): Promise<TendResult> {
  try {
    return { step, error: undefined, wasPrimary: await carryOut(step, world) };
  } catch (error) {
    return { step, error: error instanceof Error ? error : new Error(String(error)), wasPrimary: false };
  }
}

async function carryOut(step: TendStep, { calls, writes }: ActWorld): Promise<boolean> {
  switch (step.kind) {
    case "fence":
      return (await calls.fence(step.replica, step.epoch)).wasPrimary;
    case "follow":
      await calls.follow(step.replica, step.epoch, step.upstream);
      return false;
    case "label":
      await writes.labelRole({ name: step.pod, uid: step.uid }, step.role);
      return false;
    case "deletePod":
      await writes.deletePod({ name: step.pod, uid: step.uid });
      return false;
    case "dropRequest":
      await writes.dropAnnotation(step.annotation, step.value);
      return false;
  }
}

/** The same step for the same pod, whenever it is planned. */
export function stepKey(step: TendStep): string {
  switch (step.kind) {
    case "fence":
      return `fence ${step.replica.pod.uid} ${step.epoch}`;
    case "follow":
      return `follow ${step.replica.pod.uid} ${step.epoch} ${step.upstream.pod.uid}`;
    case "label":
      return `label ${step.uid} ${step.role}`;
    case "deletePod":
      return `delete ${step.uid}`;
    case "dropRequest":
      return `drop ${step.annotation} ${step.value}`;
  }
}
