/**
 * What was seen of an engine during a run: enough to tell whether it kept its promises, however the run was made.
 * Times are milliseconds of one clock; lists are in the order in which things happened.
 */
export interface History {
  /** What each surviving replica holds in the end, from record 1. */
  readonly journals: ReadonlyMap<string, readonly JournaledRecord[]>;
  readonly answers: readonly Answer[];
  readonly promises: readonly EpochPromise[];
  /** Every record that a replica has applied, again after each of its starts. */
  readonly applied: readonly AppliedRecord[];
  /** Replicas of one cluster that a primary of another let in, or the other way round. */
  readonly mixedClusters: readonly { readonly from: string; readonly to: string }[];
}

export interface JournaledRecord {
  readonly epoch: number;
  readonly seq: number;
  readonly kind: string;
  /** Of an order or a cancellation. */
  readonly clientId: string | null;
  /** Of an order, where the run tells. */
  readonly terms: OrderTerms | null;
}

/** Ticks and lots. */
export interface OrderTerms {
  readonly side: "buy" | "sell";
  /** Null takes any price. */
  readonly limit: number | null;
  readonly quantity: number;
}

/** What a client was told of its request. */
export interface Answer {
  /**
   * `placed` and `cancelled` acknowledge; `recalled` repeats to somebody who asked what was placed, which stays true for
   * ever; `absent` denies that there is such an order.
   */
  readonly kind: "placed" | "cancelled" | "recalled" | "absent";
  readonly instance: string;
  /** The epoch in which the replica that answered leads. */
  readonly term: number;
  readonly clientId: string;
  /** Of the record that the answer rests on; null for a denial. */
  readonly position: { readonly epoch: number; readonly seq: number } | null;
  /** The answer repeats an earlier one. */
  readonly duplicate: boolean;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** A promise to take part in no lower epoch: given as the answer to a fence, or found at a start. */
export interface EpochPromise {
  readonly kind: "given" | "found";
  readonly instance: string;
  readonly epoch: number;
  readonly at: number;
}

export interface Trade {
  /** Sequence number of the order that rested. */
  readonly maker: number;
  readonly price: number;
  readonly quantity: number;
}

export interface AppliedRecord {
  readonly instance: string;
  /** Counts the starts of the replica. */
  readonly start: number;
  readonly epoch: number;
  readonly seq: number;
  /** State hash right after it. */
  readonly hash: string;
  /** What the record did, in one word: the status of an order, or what became of a cancellation. */
  readonly effect: string;
  readonly trades: readonly Trade[];
  /** Best prices that rest in the book after it. */
  readonly bid: number | null;
  readonly ask: number | null;
}
