import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FenceAnswer } from "../../api/contract/v1.ts";
import { chooseCandidate } from "./candidate.ts";
import type { ElectionPlan, Participant } from "./plan.ts";

const participantOf = (ordinal: number, overrides: Partial<Participant> = {}): Participant => ({
  name: `te-${ordinal}`,
  ordinal,
  pod: { name: `te-${ordinal}`, uid: `uid-${ordinal}`, ip: `10.0.0.${ordinal}` },
  answers: true,
  ready: true,
  outdated: false,
  nodeSchedulable: true,
  role: "standby",
  ...overrides,
});

const planOf = (participants: readonly Participant[], overrides: Partial<ElectionPlan> = {}): ElectionPlan => ({
  kind: "elect",
  cause: "ProcessExited",
  from: "te-0",
  since: 0,
  epoch: 4,
  leaseVersion: "7",
  electorate: { rule: { members: participants.map(({ name }) => name), k: 1 }, first: false, decisiveEpoch: 3 },
  nextRule: { members: participants.map(({ name }) => name), k: 1 },
  participants,
  prefer: undefined,
  avoid: [],
  drain: undefined,
  ...overrides,
});

const at = (ordinal: number, epoch: number, seq: number, overrides: Partial<FenceAnswer> = {}): FenceAnswer => ({
  instance: `te-${ordinal}`,
  promised: 4,
  durable: { epoch, seq },
  blank: seq === 0,
  wasPrimary: false,
  primaryEpoch: 0,
  ...overrides,
});

const plain = [participantOf(0), participantOf(1), participantOf(2)];
const equal = [at(0, 3, 100), at(1, 3, 100), at(2, 3, 100)];

interface Row {
  readonly rule: string;
  readonly plan: ElectionPlan;
  readonly answers: readonly FenceAnswer[];
  readonly wins: string | undefined;
}

const table: readonly Row[] = [
  { rule: "the furthest sequence", plan: planOf(plain), answers: [at(0, 3, 100), at(1, 3, 101)], wins: "te-1" },
  {
    rule: "a later epoch before a longer history of an earlier one",
    plan: planOf(plain),
    answers: [at(0, 2, 500), at(1, 3, 101)],
    wins: "te-1",
  },
  { rule: "the lowest ordinal among equals", plan: planOf(plain), answers: equal, wins: "te-0" },
  { rule: "the preferred among equals", plan: planOf(plain, { prefer: "te-2" }), answers: equal, wins: "te-2" },
  {
    rule: "the furthest, although another is preferred",
    plan: planOf(plain, { prefer: "te-2" }),
    answers: [at(1, 3, 101), at(2, 3, 100)],
    wins: "te-1",
  },
  {
    rule: "the ready one among equals",
    plan: planOf([participantOf(0, { ready: false }), participantOf(1), participantOf(2)]),
    answers: equal,
    wins: "te-1",
  },
  {
    rule: "the one on a node that takes pods",
    plan: planOf([participantOf(0, { nodeSchedulable: false }), participantOf(1), participantOf(2)]),
    answers: equal,
    wins: "te-1",
  },
  {
    rule: "the updated one",
    plan: planOf([participantOf(0, { outdated: true }), participantOf(1, { outdated: true }), participantOf(2)]),
    answers: equal,
    wins: "te-2",
  },
  {
    rule: "anybody but the one to avoid, although that is further: it was never acknowledged",
    plan: planOf(plain, { avoid: ["te-0"] }),
    answers: [at(0, 3, 105), at(1, 3, 101), at(2, 3, 100)],
    wins: "te-1",
  },
  {
    rule: "even the one to avoid where the others are too few without it",
    plan: planOf(plain, { avoid: ["te-0"] }),
    answers: [at(0, 3, 105, { primaryEpoch: 3 }), at(1, 3, 101)],
    wins: "te-0",
  },
  {
    rule: "never an empty replica beside history",
    plan: planOf(plain),
    answers: [at(0, 0, 0), at(1, 3, 1), at(2, 3, 1)],
    wins: "te-1",
  },
  { rule: "nobody where all are empty", plan: planOf(plain), answers: [at(0, 0, 0), at(1, 0, 0)], wins: undefined },
  {
    rule: "an empty replica at the first election",
    plan: planOf(plain, {
      electorate: { rule: { members: ["te-0", "te-1", "te-2"], k: 1 }, first: true, decisiveEpoch: 0 },
    }),
    answers: [at(0, 0, 0), at(1, 0, 0), at(2, 0, 0)],
    wins: "te-0",
  },
];

describe("the candidate", () => {
  for (const { rule, plan, answers, wins } of table)
    it(rule, () => assert.equal(chooseCandidate(plan, answers)?.participant.name, wins));

  it("comes with the position that it must hold", () => {
    assert.deepEqual(chooseCandidate(planOf(plain), [at(0, 3, 100), at(1, 3, 104)])?.position, { epoch: 3, seq: 104 });
  });
});
