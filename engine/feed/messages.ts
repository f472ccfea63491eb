import type { ListenAddress } from "../process/config.ts";
import type { MarketLevel } from "./marketBatch.ts";

/** Given to the feed's thread at its start. */
export interface FeedThreadData {
  readonly address: ListenAddress;
}

/** Decimals of what follows, as strings. */
export interface FeedRules {
  readonly tradingPair: string;
  readonly tickSize: string;
  readonly lotSize: string;
}

/** The book after record `seq`, best levels first. */
export interface BookSnapshot {
  readonly seq: number;
  readonly epoch: number;
  readonly levels: readonly MarketLevel[];
}

export type ToFeed =
  /** Begins anew after record `seq`: what was told before does not connect with what follows. */
  | { readonly kind: "restart"; readonly seq: number; readonly rules: FeedRules | null; readonly why: string }
  /** Events in the order of their records, and the last record applied. */
  | { readonly kind: "batch"; readonly batch: Float64Array; readonly applied: number }
  | { readonly kind: "book"; readonly snapshot: BookSnapshot };

export type FromFeed =
  | { readonly kind: "listening"; readonly address: ListenAddress }
  | { readonly kind: "failed"; readonly detail: string }
  /** A batch was taken in. */
  | { readonly kind: "taken" }
  /** Wants the book as it is now. */
  | { readonly kind: "book" };
