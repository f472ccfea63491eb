/** The promises of an engine, by their short names. */
export const invariants = {
  I1: "every acknowledged order is in the surviving journal, once, where it was acknowledged, and is never denied",
  I2: "no position is acknowledged twice; sequence numbers have no gap, epochs never fall, later requests come later",
  I3: "one primary acknowledges in an epoch, none after its fence, none from the past",
  I4: "trades are unique, between a buyer and a seller, and fill no order beyond its size",
  I5: "trades follow price and time",
  I6: "the book is never crossed at rest",
  I7: "replicas have equal hashes at equal sequence numbers",
  I8: "a start from disk leads to the state that the journal alone leads to",
  I9: "one client id is never two orders",
  I10: "a cancelled order never trades again",
  I11: "only committed records are shown, without a gap",
  I12: "a promised epoch never falls",
  I13: "replicas of another cluster have no part in this one",
  I14: "what is refused is refused everywhere",
} as const;

export type Invariant = keyof typeof invariants;

export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
}

/** One look at a history. */
export type Check<Seen> = (seen: Seen) => Generator<Violation>;

export const violation = (invariant: Invariant, detail: string): Violation => ({ invariant, detail });

export const at = ({ epoch, seq }: { readonly epoch: number; readonly seq: number }): string => `${epoch}/${seq}`;
