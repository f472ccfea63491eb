/**
 * An engine of n replicas and its objects in the API server, without network and time: it keeps the promises of the
 * engine contract, and its caller can be killed before or after any step.
 */
import type { EngineStatus, FenceAnswer, Position } from "../../api/contract/v1.ts";
import { type ActWorld, type EngineCalls, LeaseTaken, type RoleWrites } from "../act/index.ts";
import { EngineRefusal, EngineUnanswered } from "../contract/index.ts";
import type { Participant } from "../decide/index.ts";
import type { CommitRule, EngineSnapshot, LeaseView } from "../observe/index.ts";
import { ended, live, now, podOf, replicaOf, specOf, statusOf, worldOf } from "./engineWorld.ts";

/** Thrown into whoever acts, at the step at which it is killed; nothing of it gets through afterwards. */
export class Killed extends Error {}

interface SimulatedReplica {
  readonly name: string;
  up: boolean;
  role: "standby" | "fenced" | "primary";
  promised: number;
  /** Highest epoch that it led. */
  ledEpoch: number;
  durable: Position;
  upstream: { instance: string; epoch: number } | null;
  /** May acknowledge in its present epoch although no standby has to hold an order. */
  granted: boolean;
  sync: { k: number; version: number; members: readonly string[] } | null;
}

export class SimulatedEngine {
  readonly replicas: readonly SimulatedReplica[];
  readonly roles = new Map<string, string | undefined>();
  annotations: Readonly<Record<string, string>> = {};
  spec = specOf();
  lease: LeaseView | undefined;
  #version = 1;
  /** Steps that the present initiator may still make. */
  #stepsLeft = Infinity;
  #isKilled = false;
  stepsMade = 0;

  constructor(n: number) {
    this.spec = specOf({ replicas: n });
    this.replicas = Array.from({ length: n }, (_, ordinal) => ({
      name: `te-${ordinal}`,
      up: true,
      role: "standby",
      promised: 0,
      ledEpoch: 0,
      durable: { epoch: 0, seq: 0 },
      upstream: null,
      granted: false,
      sync: null,
    }));
  }

  /** A new initiator begins; it is killed after so many steps, each an API write or a call to a replica. */
  begin(stepsLeft = Infinity): void {
    this.#stepsLeft = stepsLeft;
    this.#isKilled = false;
    this.stepsMade = 0;
  }

  /** The present initiator has made its last step. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  replica(name: string): SimulatedReplica {
    const found = this.replicas.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  }

  /** An order that is acknowledged: durable on the primary and on k members that follow it. */
  acknowledge(): Position | undefined {
    const primary = this.primary();
    if (primary?.sync == null) return undefined;
    if (primary.sync.k === 0 && primary.sync.members.length > 0 && !primary.granted) return undefined;
    const position = { epoch: primary.ledEpoch, seq: primary.durable.seq + 1 };
    const copies = this.replicas
      .filter(
        ({ name, up, upstream, promised }) =>
          primary.sync?.members.includes(name) === true &&
          up &&
          upstream?.instance === primary.name &&
          promised <= primary.ledEpoch,
      )
      .slice(0, primary.sync.k);
    if (copies.length < primary.sync.k) return undefined;
    for (const replica of [primary, ...copies]) replica.durable = position;
    return position;
  }

  /** The replica that leads the newest epoch, if it is up. */
  primary(): SimulatedReplica | undefined {
    const leaders = this.replicas.filter(({ up, role }) => up && role === "primary");
    return leaders.toSorted((a, b) => b.ledEpoch - a.ledEpoch)[0];
  }

  /** The process dies; started again it is a standby with what it made durable. */
  kill(name: string): void {
    const replica = this.replica(name);
    replica.up = false;
    replica.role = "standby";
    replica.upstream = null;
    replica.sync = null;
  }

  /** What the reconciler sees when all informers and streams have caught up. */
  snapshot(): EngineSnapshot {
    const views = this.replicas.map((replica, ordinal) => {
      const status = this.#statusOf(replica, ordinal);
      return replicaOf(
        ordinal,
        replica.up ? live(status) : ended(live(status), "refused"),
        podOf(ordinal, { role: this.roles.get(replica.name) }),
      );
    });
    return worldOf(views, {
      spec: this.spec,
      lease: this.lease,
      annotations: this.annotations,
      published: undefined,
    });
  }

  readonly calls: EngineCalls = {
    status: (target) => this.#ask(target, (replica) => this.#statusOf(replica, target.ordinal)),
    fence: (target, epoch) =>
      this.#ask(target, (replica): FenceAnswer => {
        this.#refuseStale(replica, epoch);
        const wasPrimary = replica.role === "primary" && replica.ledEpoch < epoch;
        this.#leaveBelow(replica, epoch, "fenced");
        replica.promised = epoch;
        const { name, durable, promised, ledEpoch } = replica;
        return { instance: name, promised, durable, blank: durable.seq === 0, wasPrimary, primaryEpoch: ledEpoch };
      }),
    promote: (target, epoch, minPosition, rule) =>
      this.#ask(target, (replica) => {
        this.#refuseStale(replica, epoch);
        if (replica.durable.epoch >= epoch) throw refusal("WRONG_STATE");
        const isBehind = replica.durable.epoch < minPosition.epoch || replica.durable.seq < minPosition.seq;
        if (isBehind) throw refusal("BEHIND");
        Object.assign(replica, {
          role: "primary",
          promised: epoch,
          ledEpoch: epoch,
          upstream: null,
          granted: false,
          durable: { epoch, seq: replica.durable.seq + 1 },
          sync: { k: rule.k, version: 1, members: rule.members.filter((member) => member !== replica.name) },
        });
        return { instance: replica.name, epoch, durable: replica.durable };
      }),
    follow: (target, epoch, upstream) =>
      this.#ask(target, (replica) => {
        this.#refuseStale(replica, epoch);
        if (replica.role === "primary" && replica.ledEpoch >= epoch) throw refusal("WRONG_STATE");
        Object.assign(replica, { role: "standby", promised: epoch, sync: null });
        replica.upstream = { instance: upstream.name, epoch };
        return { instance: replica.name, epoch, durable: replica.durable };
      }),
    demote: (target, epoch) =>
      this.#ask(target, (replica) => {
        this.#requireLeading(replica, epoch);
        Object.assign(replica, { role: "standby", sync: null });
        return { instance: replica.name, final: replica.durable };
      }),
    grant: (target, epoch, ttlMs) =>
      this.#ask(target, (replica) => {
        this.#requireLeading(replica, epoch);
        replica.granted = true;
        return { instance: replica.name, epoch, ttlMs };
      }),
    setMembers: (target, epoch, version, rule) =>
      this.#ask(target, (replica) => {
        this.#requireLeading(replica, epoch);
        const members = rule.members.filter((member) => member !== replica.name);
        replica.sync = { k: rule.k, version, members };
        for (const member of members.map((name) => this.replica(name)))
          if (member.up && member.upstream?.instance === replica.name) member.durable = replica.durable;
        return { instance: replica.name, version, committed: replica.durable.seq };
      }),
  };

  readonly writes: RoleWrites = {
    putLease: ({ version, ...change }) =>
      this.#step(() => {
        if (this.lease?.resourceVersion !== version) throw new LeaseTaken("te");
        this.lease = { ...change, resourceVersion: String(++this.#version), seenAt: 0 };
        return this.lease.resourceVersion;
      }),
    labelRole: (pod, role) =>
      this.#step(() => {
        this.roles.set(pod.name, role);
      }),
    deletePod: () => this.#step(() => undefined),
    dropAnnotation: (name) =>
      this.#step(() => {
        const rest = Object.fromEntries(Object.entries(this.annotations).filter(([known]) => known !== name));
        this.annotations = rest;
      }),
  };

  readonly world: ActWorld = {
    calls: this.calls,
    writes: this.writes,
    // No time passes: grace periods end at once, after everything that can be answered has been.
    clock: { now: () => now, sleep: () => new Promise((resolve) => setImmediate(resolve)) },
  };

  /** A killed initiator hears nothing any more; what it had begun before may or may not have happened. */
  async #step<T>(effect: () => T): Promise<T> {
    await Promise.resolve();
    if (this.#isKilled) throw new Killed("killed");
    this.stepsMade += 1;
    this.#stepsLeft -= 1;
    const result = effect();
    if (this.#stepsLeft > 0) return result;
    // The effect is there; its answer reaches nobody.
    this.#isKilled = true;
    throw new Killed("killed");
  }

  #ask<T>({ name }: Participant, effect: (replica: SimulatedReplica) => T): Promise<T> {
    return this.#step(() => {
      const replica = this.replica(name);
      if (!replica.up) throw new EngineUnanswered("call", "refused", new Error("down"));
      return effect(replica);
    });
  }

  #refuseStale(replica: SimulatedReplica, epoch: number): void {
    if (epoch < replica.promised) throw refusal("STALE_EPOCH");
  }

  #requireLeading(replica: SimulatedReplica, epoch: number): void {
    this.#refuseStale(replica, epoch);
    if (replica.role !== "primary" || replica.ledEpoch !== epoch) throw refusal("WRONG_STATE");
  }

  #leaveBelow(replica: SimulatedReplica, epoch: number, role: "fenced"): void {
    if (replica.role === "primary" && replica.ledEpoch < epoch) Object.assign(replica, { role, sync: null });
    if (replica.upstream !== null && replica.upstream.epoch < epoch) replica.upstream = null;
  }

  /** Streams show a follower's link as connected while its primary leads that epoch. */
  #statusOf(replica: SimulatedReplica, ordinal: number): EngineStatus {
    const { name, role, promised, durable, upstream, sync } = replica;
    const source = upstream === null ? undefined : this.replica(upstream.instance);
    const connected = source?.up === true && source.role === "primary" && source.ledEpoch === upstream?.epoch;
    return statusOf(ordinal, {
      instance: name,
      role,
      blank: durable.seq === 0,
      durable,
      epoch: { current: durable.epoch, promised, startSeq: 0 },
      ready: role === "primary" || connected,
      upstream: upstream === null ? null : { ...upstream, connected, lastHeardMs: connected ? 1 : 5_000 },
      sync:
        sync === null
          ? null
          : {
              k: sync.k,
              version: sync.version,
              satisfied: true,
              members: sync.members.map((instance) => ({ instance, connected: true, durableSeq: 0, inSync: true })),
            },
    });
  }

  /** Followers catch up with the primary that they are connected to, as they do within milliseconds. */
  replicate(): void {
    for (const replica of this.replicas) {
      if (!replica.up || replica.upstream === null) continue;
      const source = this.replica(replica.upstream.instance);
      if (source.up && source.role === "primary" && source.ledEpoch === replica.upstream.epoch)
        replica.durable = source.durable;
    }
  }
}

/** The rule that a healthy engine of this size ends up with. */
export const ruleOf = (engine: SimulatedEngine): CommitRule => ({
  members: engine.replicas.map(({ name }) => name),
  k: engine.spec.failoverStrategy.syncStandbys,
});

const refusal = (code: "STALE_EPOCH" | "WRONG_STATE" | "BEHIND"): EngineRefusal =>
  new EngineRefusal("call", { type: "about:blank", title: code, status: 409, code });
