/** What the shape lane is asked for and what it answers. */
import type { LastUpdate } from "../../api/tradingEngine/index.ts";

/** `namespace/name` of a TradingEngine. */
export type EngineKey = string;

/** Why an engine's shape is looked at; the order of urgency is in shapePriority.ts. */
export type ShapeReason = "Created" | "SpecChanged" | "Drift" | "Failover" | "Resync" | "Deleted" | "Requested";

/** How one run for one engine ended. Passes that found nothing to do leave no result. */
export interface ShapeResult {
  /** RFC 3339, when the run ended. */
  readonly time: string;
  readonly result: LastUpdate["result"];
  readonly reason: ShapeReason;
  readonly durationMs: number;
  /** Resources by kind of step, such as `{create: 12}`; what stayed the same is left out. */
  readonly changes: Readonly<Record<string, number>>;
  /** For a failure: what went wrong and what to do about it. */
  readonly message?: string;
  /** metadata.generation of the TradingEngine that was applied, or for which nothing had to be applied. */
  readonly generation: number;
  /** Children that somebody changed and that are left alone, as drift.policy says. */
  readonly reportedDrift?: readonly ChildDrift[];
}

/** A child that is not as the last run left it. */
export interface ChildDrift {
  /** `Kind/name`. */
  readonly child: string;
  readonly what: "deleted" | "changed";
  /** Field managers that own what used to be ours, or that wrote last; empty when the API server does not tell. */
  readonly who: readonly string[];
  /** Paths that those managers own. */
  readonly fields: readonly string[];
}
