export interface CommitInput {
  /** Last record that the primary itself has made durable. */
  readonly ownDurable: number;
  /** The same of each member that takes part now. */
  readonly memberDurable: readonly number[];
  /** Members that must hold a record besides the primary. */
  readonly k: number;
  /** First record of the primary's own epoch. */
  readonly epochStart: number;
  readonly committed: number;
}

/**
 * The highest record that is durable on the primary and on k members; never lower than before. Records of earlier epochs become
 * committed only together with the epoch's own first record: until that is on k members, a replica with a
 * newer epoch could still win an election and cut them.
 */
export const commitPoint = ({ ownDurable, memberDurable, k, epochStart, committed }: CommitInput): number => {
  const ranked = memberDurable.toSorted((a, b) => b - a);
  const replicated = k === 0 ? ownDurable : (ranked[k - 1] ?? 0);
  const point = Math.min(ownDurable, replicated);
  return point < epochStart ? committed : Math.max(committed, point);
};
