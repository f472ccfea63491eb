/** What the shape lane tells people about an engine, as Kubernetes Events. */
import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import type { EventRecorder, KubeObject } from "../kube/index.ts";
import { driftSentence } from "./driftReport.ts";
import type { ChildDrift } from "./shapeResult.ts";

export interface ShapeEvents {
  driftDetected(engine: TradingEngine, drift: readonly ChildDrift[], corrected: boolean): void;
  driftCorrected(engine: TradingEngine, drift: readonly ChildDrift[], durationMs: number): void;
  updateFailed(engine: TradingEngine, refused: boolean, message: string): void;
  volumeReplaced(engine: TradingEngine, claim: string): void;
  stateLost(engine: TradingEngine, why: string): void;
  deletionBlocked(engine: TradingEngine, why: string): void;
}

export const createShapeEvents = (recorder: EventRecorder): ShapeEvents => {
  const tell = (
    engine: TradingEngine,
    type: "Normal" | "Warning",
    [reason, action]: readonly [string, string],
    note: string,
  ) => recorder.event({ regarding: regardingOf(engine), type, reason, action, note });

  return {
    driftDetected: (engine, drift, corrected) =>
      tell(
        engine,
        "Warning",
        ["DriftDetected", corrected ? "Correct" : "Report"],
        `${drift.map(driftSentence).join("; ")}${corrected ? "" : "; left alone, as drift.policy is Report"}`,
      ),
    driftCorrected: (engine, drift, durationMs) =>
      tell(
        engine,
        "Normal",
        ["DriftCorrected", "Update"],
        `${drift.map(({ child }) => child).join(", ")} restored in ${durationMs} ms`,
      ),
    updateFailed: (engine, refused, message) =>
      tell(engine, "Warning", [refused ? "UpdateRefused" : "UpdateFailed", "Update"], message),
    volumeReplaced: (engine, claim) =>
      tell(
        engine,
        "Normal",
        ["VolumeReplaced", "DeleteClaim"],
        `claim ${claim} was never bound and differs from the spec in class or size: made anew`,
      ),
    stateLost: (engine, why) =>
      tell(engine, "Warning", ["StateLost", "Adopt"], `${why}; the live objects are adopted into a new state`),
    deletionBlocked: (engine, why) => tell(engine, "Warning", ["DeletionBlocked", "Delete"], why),
  };
};

const regardingOf = ({ apiVersion, kind, metadata }: TradingEngine): KubeObject => ({
  apiVersion,
  kind,
  metadata: {
    name: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    creationTimestamp: metadata.creationTimestamp ?? "",
  },
});
