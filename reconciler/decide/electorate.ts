/** Counting promises: who must be heard, who can be, and what is missing. */
import type { FenceAnswer } from "../../api/contract/v1.ts";
import type { EngineSnapshot, ReplicaView } from "../observe/snapshot.ts";
import { promisesNeeded, ruleInForce, wantedRule } from "./commitRule.ts";
import type { Blockage, Electorate } from "./plan.ts";
import { answering, canPromise, highestKnownEpoch, isEstablished } from "./replicaFacts.ts";

/** The electorate for an election that is held now. */
export function electorateOf(snapshot: EngineSnapshot): Electorate {
  if (!isEstablished(snapshot)) return { rule: wantedRule(snapshot), first: true, decisiveEpoch: 0 };
  // A Lease with a holder says who led last. Without it an unknown replica may have led, whatever the others report.
  const isLastLeaderKnown = snapshot.lease !== undefined && snapshot.lease.holder !== "";
  return {
    rule: ruleInForce(snapshot),
    first: false,
    decisiveEpoch: isLastLeaderKnown ? highestKnownEpoch(snapshot) : 0,
  };
}

export type Promises =
  | { readonly kind: "enough" }
  | { readonly kind: "short"; readonly reason: Blockage["reason"]; readonly message: string };

/**
 * Whether the answers of a fence settle everything that earlier epochs acknowledged, and end their power to
 * acknowledge more. An empty replica's promise finds no order, so it does not count.
 */
export function countPromises({ rule, first, decisiveEpoch }: Electorate, answers: readonly FenceAnswer[]): Promises {
  const members = answers.filter(({ instance }) => rule.members.includes(instance));
  const full = members.filter(({ blank }) => !blank);
  if (first) {
    if (full.length > 0)
      return {
        kind: "short",
        reason: "ReplicaNotBlank",
        message: `${namesOf(full)} holds history of an earlier engine`,
      };
    if (members.length === rule.members.length) return { kind: "enough" };
    return {
      kind: "short",
      reason: "NotEnoughPromises",
      message: `the first election needs all ${rule.members.length} replicas; ${members.length} promised`,
    };
  }
  if (full.length >= promisesNeeded(rule)) return { kind: "enough" };
  if (decisiveEpoch > 0 && full.some(({ primaryEpoch }) => primaryEpoch >= decisiveEpoch)) return { kind: "enough" };
  return {
    kind: "short",
    reason: "NotEnoughPromises",
    message: `${promisesNeeded(rule)} of ${rule.members.length} replicas must promise; ${full.length} did`,
  };
}

const namesOf = (answers: readonly FenceAnswer[]): string => answers.map(({ instance }) => instance).join(", ");

/**
 * Asks before anything is disturbed: would an election held now find enough promises?
 * Otherwise it would only take standbys away from a primary that may still work.
 * @param without a replica that is not to be relied on although it answers.
 * @returns what is missing, or undefined when nothing is.
 */
export function prospectsOf(snapshot: EngineSnapshot, now: number, without?: string): Blockage | undefined {
  const { detectionMilliseconds } = snapshot.spec.failoverStrategy;
  const { rule, first, decisiveEpoch } = electorateOf(snapshot);
  const members = rule.members.map((name) => {
    const replica = snapshot.replicas.find((candidate) => candidate.name === name);
    return { name, replica, status: replica && answering(replica, now, detectionMilliseconds) };
  });
  const describe = (wanted: (status: NonNullable<(typeof members)[number]["status"]>) => boolean): string =>
    members
      .filter(({ status }) => status === undefined || !wanted(status))
      .map(({ name, replica }) => `${name} ${whyNot(replica, now, detectionMilliseconds)}`)
      .join("; ");

  if (first) {
    const missing = describe((status) => status.blank && status.role !== "recovering");
    return missing === ""
      ? undefined
      : { reason: "NotEnoughPromises", message: `The first election needs every replica, and waits: ${missing}.` };
  }

  const promising = members.filter(
    ({ name, status }) => name !== without && status !== undefined && canPromise(status),
  );
  const needed = promisesNeeded(rule);
  if (promising.length >= needed) return undefined;
  const lastLeader = promising.find(({ name }) => name === snapshot.lease?.holder)?.status;
  if (decisiveEpoch > 0 && lastLeader !== undefined && lastLeader.epoch.current >= decisiveEpoch) return undefined;

  const answers = members.flatMap(({ status }) => (status === undefined ? [] : [status]));
  if (answers.length === members.length && answers.every(({ blank }) => blank))
    return {
      reason: "NoCandidate",
      message: `Every replica is empty, although epoch ${highestKnownEpoch(snapshot)} has traded. An empty replica is never made primary: restore a backup, or bring the volumes back.`,
    };
  const old = snapshot.lease?.holder ?? "";
  const orOld = old === "" ? "" : `, or ${old} itself,`;
  return {
    reason: answers.some(({ blank }) => blank) ? "ReplicaNotBlank" : "NotEnoughPromises",
    message: `To lose no acknowledged order, ${needed} of ${members.length} replicas with history${orOld} must answer; ${promising.length} can. Waiting for: ${describe(canPromise)}.`,
  };
}

function whyNot(replica: ReplicaView | undefined, now: number, withinMs: number): string {
  if (replica?.pod === undefined) return "has no pod";
  const status = answering(replica, now, withinMs);
  if (status !== undefined) {
    if (status.blank) return "is empty: its volume holds no history";
    if (status.role === "standby" || status.role === "fenced") return "holds history already";
    return `is ${status.role}`;
  }
  const { container, phase } = replica.pod;
  if (container.kind === "waiting") return `is waiting (${container.reason})`;
  if (container.kind === "terminated") return `has ended (exit code ${container.exitCode})`;
  if (phase === "Pending") return "is not scheduled or not started";
  const connection = replica.stream?.connection;
  return connection?.kind === "ended" ? `does not answer (${connection.reason})` : "does not answer";
}
