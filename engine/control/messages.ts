import type { EngineLimits, ListenAddress } from "../process/config.ts";
import type { ReplicaCall } from "../replica/calls.ts";
import type { ProblemBody } from "../replica/refusal.ts";
import type { StatusSnapshot } from "./status.ts";

/** Given to the control thread at its start. */
export interface ControlThreadData {
  readonly address: ListenAddress;
  readonly token: string;
  readonly clusterUid: string;
  readonly dataDir: string;
  readonly limits: EngineLimits;
}

/** A question that only the main thread can answer. */
export type Query =
  | { readonly name: "metrics" }
  /** Last record that GET /v1/journal may show. */
  | { readonly name: "journalEnd" }
  | { readonly name: "hash"; readonly seq: number };

export type HashAnswer = { readonly kind: "hash"; readonly hash: string } | { readonly kind: "pending" | "gone" };

export type Answer =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly problem: ProblemBody };

export type ToControl =
  | { readonly kind: "snapshot"; readonly snapshot: StatusSnapshot }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Answer };

export type FromControl =
  | { readonly kind: "listening"; readonly address: ListenAddress }
  | { readonly kind: "failed"; readonly detail: string }
  | { readonly kind: "call"; readonly id: number; readonly call: ReplicaCall }
  | { readonly kind: "query"; readonly id: number; readonly query: Query };
