import type { ClusterLayout } from "../../../local/cluster/layout.ts";
import type { Pod } from "../../../reconciler/kube/index.ts";
import type { EngineRef } from "../../support/engines.ts";

/** The engine that is hurt, and where. */
export interface Injection {
  readonly engine: EngineRef;
  readonly layout: ClusterLayout;
  /** The primary at this moment. */
  readonly primary: Pod;
  /** Pods of the clients that measure: they are spared, or nobody would see the gap. */
  readonly clients: readonly Pod[];
}

/** Takes back what an injection did. Called once the next primary acknowledges, and also when it never does. */
export type Heal = () => Promise<void>;

/** One way to lose a primary. */
export interface FailoverEvent {
  readonly name: string;
  /** Completes "what happens: ...". */
  readonly title: string;
  /** Where the replicas' volumes must be for it; default: the class that the cluster has. */
  readonly storageClassName?: string;
  /** Made ready once, before the engine is created. */
  prepare?(layout: ClusterLayout, engine: Pick<EngineRef, "client">): Promise<Heal>;
  inject(injection: Injection): Promise<Heal>;
}

/** For injections that leave nothing to take back. */
export const nothingToHeal: Heal = () => Promise.resolve();
