import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import type { Child } from "./childWatch.ts";
import { contentHash } from "./contentHash.ts";
import { observedVolumes } from "./observedVolumes.ts";
import { type ObservedClaim, planVolumes } from "./volumePlan.ts";
import type { EngineProgram } from "./worker/protocol.ts";

/** What an engine's children are to be. */
export interface WantedShape {
  readonly program: EngineProgram;
  /** Changes exactly when a run could make a difference. */
  readonly hash: string;
  /** Claims to be deleted before the run. */
  readonly obsoleteClaims: readonly ObservedClaim[];
  /** The StatefulSet is to be deleted before them, without its pods. */
  readonly obsoleteSet: boolean;
}

export interface ProgramContext {
  readonly operatorNamespace: string;
  /** See programVersion.ts. */
  readonly programVersion: string;
}

export const wantedShape = (
  { metadata, spec }: Pick<TradingEngine, "metadata" | "spec">,
  children: readonly Child[],
  { operatorNamespace, programVersion }: ProgramContext,
): WantedShape => {
  const { claims, template } = observedVolumes(metadata.name, children);
  const { volumes, volumeTemplate, obsolete, obsoleteTemplate } = planVolumes(spec, claims, template);
  const program: EngineProgram = {
    namespace: metadata.namespace,
    engine: metadata.name,
    // Whether volumes go is decided when the engine is deleted. Until then none ever goes: also not that of a replica
    // which is no longer wanted, since it may hold the only copy of an order that was acknowledged a moment ago.
    spec: { ...spec, paused: false, deletionPolicy: { ...spec.deletionPolicy, volumes: "Retain" } },
    owner: { name: metadata.name, uid: metadata.uid },
    volumes,
    ...(volumeTemplate === undefined ? {} : { volumeTemplate }),
    operatorNamespace,
  };
  return {
    program,
    hash: contentHash([programVersion, program]),
    obsoleteClaims: obsolete,
    obsoleteSet: obsoleteTemplate === true,
  };
};
