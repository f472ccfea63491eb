import type { Exchange } from "../exchange/exchange.ts";
import { lastEpochLedBy } from "../journal/epochTable.ts";
import type { Journal } from "../journal/journal.ts";
import { comparePositions, type EpochStart, type Position } from "../journal/record.ts";
import type { Clock } from "../process/clock.ts";
import type { EngineConfig } from "../process/config.ts";
import type { FatalError } from "../process/exit.ts";
import type { Log } from "../process/log.ts";
import type { Timers } from "../process/timers.ts";
import type { Hello, Refused } from "../replication/handshake.ts";
import type { Connection, Network } from "../replication/network.ts";
import type { FollowerSession } from "../replication/replicationServer.ts";
import { UpstreamLink } from "../replication/upstreamLink.ts";
import type { Manifest } from "../snapshots/manifest.ts";
import type { ReplicaSnapshots } from "../snapshots/replicaSnapshots.ts";
import type { ApplyFault } from "../storage/applyFault.ts";
import type { PromisedEpoch } from "../storage/promisedEpoch.ts";
import type {
  CallIdentity,
  DemoteAnswer,
  DemoteCall,
  DrainAnswer,
  DrainCall,
  FenceAnswer,
  FollowCall,
  GrantAnswer,
  GrantCall,
  MembersAnswer,
  MembersCall,
  PlacedAnswer,
  PromoteCall,
  SnapshotAnswer,
} from "./calls.ts";
import type { CommitQueue } from "./commitQueue.ts";
import { OrderDesk } from "./orderDesk.ts";
import { PrimaryTerm, type SyncSet } from "./primaryTerm.ts";
import { Refusal } from "./refusal.ts";
import { StandbyHistory } from "./standbyHistory.ts";

export type ReplicaConfig = Pick<
  EngineConfig,
  "clusterUid" | "instance" | "token" | "rules" | "clientIdWindow" | "limits"
>;

export interface ReplicaOptions {
  readonly config: ReplicaConfig;
  readonly journal: Journal;
  readonly queue: CommitQueue;
  readonly exchange: Exchange;
  readonly snapshots: ReplicaSnapshots;
  readonly promised: PromisedEpoch;
  readonly network: Network;
  /** The record that forbids this replica to take part; null for none. */
  readonly halting: ApplyFault | null;
  readonly clock: Clock;
  /** What a grant is measured on. */
  readonly bootClock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Something that status shows has changed. */
  readonly onChange: () => void;
  /** The process must end. */
  readonly onFailure: (error: FatalError) => void;
}

/** What this replica is at the moment, with what belongs to being that. */
export type Standing =
  | { readonly role: "standby" | "fenced"; readonly following: Following | null }
  /** A record ended this replica again and again: it keeps its history and its promises, and goes no further. */
  | { readonly role: "halted"; readonly following: null; readonly fault: ApplyFault }
  | { readonly role: "primary" | "draining"; readonly term: PrimaryTerm; readonly desk: OrderDesk };

export interface Following {
  readonly link: UpstreamLink;
  /** host:port of the primary's order entry. */
  readonly orders: string;
}

const alone = { role: "standby", following: null } as const;
/** How often a wait for something to be committed looks again. */
const pollMs = 2;
const membersDeadlineMs = 5_000;

/**
 * One replica: decides whom it follows, whether it leads, and which epochs it still takes part in. The
 * control calls change that one after the other; a fence takes effect at once, whatever else is under way.
 */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly #history: StandbyHistory;
  #standing: Standing = alone;
  #calls: Promise<unknown> = Promise.resolve();

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#history = new StandbyHistory(options);
    const { halting } = options;
    if (halting !== null) this.#standing = { role: "halted", following: null, fault: halting };
  }

  get standing(): Standing {
    return this.#standing;
  }

  get durable(): Position {
    return this.#options.journal.durable;
  }

  /** Holds no history at all: its promise finds no order. */
  get blank(): boolean {
    return this.#options.journal.last.seq === 0;
  }

  /** To be called at every heartbeat. */
  tick(): void {
    this.#options.snapshots.tick(this.#mayPause);
    if (!("term" in this.#standing)) return;
    this.#standing.term.tick();
    this.#standing.desk.tick();
  }

  /** Begins a snapshot, and answers its id at once. */
  async takeSnapshot(): Promise<SnapshotAnswer> {
    if (!this.#mayPause) {
      throw new Refusal("WRONG_STATE", "a primary would stop trading for it: ask one of its standbys");
    }
    const snapshot = await this.#options.snapshots.taker.begin();
    return { instance: this.#options.config.instance, snapshot };
  }

  /** This replica has taken a snapshot. */
  noticeSnapshot(manifest: Manifest): void {
    this.#following()?.link.offer(manifest);
  }

  /** Nobody waits for what is applied here; or there is nobody else who could take a snapshot. */
  get #mayPause(): boolean {
    return !("term" in this.#standing) || this.#standing.term.syncSet.members.length === 0;
  }

  /** The journal has made more durable. */
  noticeDurable(): void {
    if ("term" in this.#standing) this.#standing.term.advance();
    else this.#standing.following?.link.acknowledge();
  }

  /** A follower's hello. */
  acceptFollower(hello: Hello, connection: Connection): FollowerSession | Refused {
    if ("term" in this.#standing) return this.#standing.term.accept(hello, connection);
    return { code: "NOT_PRIMARY", detail: `this replica is ${this.#standing.role}` };
  }

  /** Durably promises to take part in no epoch below the call's, and ends what belongs to one. */
  async fence(call: CallIdentity): Promise<FenceAnswer> {
    this.#refuseStale(call.epoch);
    // Before anything is waited for: from here on no lower epoch can use this replica's acknowledgement.
    this.#options.promised.raise(call.epoch);
    const wasPrimary = "term" in this.#standing && this.#standing.term.epoch < call.epoch;
    const released = this.#leaveEpochsBelow(call.epoch, "fenced");
    return this.#inOrder(async () => {
      await released;
      await this.#options.promised.persist();
      const durable = await this.#options.journal.flushed();
      const { instance } = this.#options.config;
      const primaryEpoch = this.#primaryEpoch();
      // Not the value: a later fence may have raised that, and its promise is not on the disk yet.
      return {
        instance,
        promised: this.#options.promised.durable,
        durable,
        blank: this.blank,
        wasPrimary,
        primaryEpoch,
      };
    });
  }

  /** Becomes primary of the call's epoch. Answers once the epoch is begun durably here; it is not committed then. */
  promote(call: PromoteCall): Promise<PlacedAnswer> {
    return this.#inOrder(async () => {
      this.#refuseStale(call.epoch);
      this.#refuseHalted();
      this.#refuseUsedEpoch(call.epoch);
      this.#options.promised.raise(call.epoch);
      await this.#leaveEpochsBelow(call.epoch, "standby");
      // Orders wait for what is applied: whoever asked for the snapshot asks again.
      await this.#options.snapshots.taker.abandon();
      await this.#options.promised.persist();
      const durable = await this.#options.journal.flushed();
      if (comparePositions(durable, call.minPosition) < 0) {
        throw new Refusal("BEHIND", `${describe(durable)} is durable here, ${describe(call.minPosition)} is needed`);
      }
      // A fence may have come in while the disk was waited for.
      this.#refuseStale(call.epoch);
      const term = this.#beginTerm(call);
      await this.#options.journal.flushed();
      if (!this.#leads(term)) throw new Refusal("STALE_EPOCH", "fenced while being promoted", this.#promised);
      term.begin();
      this.#options.log.info("primary", { epoch: term.epoch, startSeq: term.startSeq });
      this.#options.onChange();
      return { instance: this.#options.config.instance, epoch: call.epoch, durable: this.durable };
    });
  }

  /** Replicates from the primary of the call's epoch, and keeps trying while that is not leading yet. */
  follow(call: FollowCall): Promise<PlacedAnswer> {
    return this.#inOrder(async () => {
      this.#refuseStale(call.epoch);
      this.#refuseHalted();
      if ("term" in this.#standing && this.#standing.term.epoch >= call.epoch) {
        throw new Refusal("WRONG_STATE", `this replica leads epoch ${this.#standing.term.epoch} itself`);
      }
      this.#options.promised.raise(call.epoch);
      await this.#leaveEpochsBelow(call.epoch + 1, "standby");
      await this.#options.promised.persist();
      const durable = await this.#options.journal.flushed();
      this.#refuseStale(call.epoch);
      const { instance, replication, orders } = call.upstream;
      const link = new UpstreamLink({
        target: { instance, replication, epoch: call.epoch },
        consumer: this.#history,
        network: this.#options.network,
        timers: this.#options.timers,
        clock: this.#options.clock,
        log: this.#options.log,
        silenceMs: this.#options.config.limits.detectionMs,
      });
      this.#become({ role: "standby", following: { link, orders } });
      return { instance: this.#options.config.instance, epoch: call.epoch, durable };
    });
  }

  /** Stops taking orders, commits what was sequenced, and becomes standby. Goes on as primary when the time runs out. */
  demote(call: DemoteCall): Promise<DemoteAnswer> {
    return this.#inOrder(async () => {
      const { term, desk } = this.#leading(call.epoch);
      const intake = term.intake;
      term.intake = "reject";
      this.#become({ role: "draining", term, desk });
      const deadline = this.#options.clock() + call.deadlineMs;
      const settled = await this.#until(deadline, () => !this.#leads(term) || term.committedSeq === term.lastSeq);
      if (!this.#leads(term)) throw new Refusal("STALE_EPOCH", "fenced while being demoted", this.#promised);
      if (!settled) {
        term.intake = intake;
        this.#become({ role: "primary", term, desk });
        throw new Refusal("TIMEOUT", `${term.lastSeq - term.committedSeq} records are not committed; still primary`);
      }
      await this.#leaveEpochsBelow(call.epoch + 1, "standby");
      return { instance: this.#options.config.instance, final: await this.#options.journal.flushed() };
    });
  }

  /** Changes whose copies an acknowledgement needs; answers once everything committed has them. */
  setMembers(call: MembersCall): Promise<MembersAnswer> {
    return this.#inOrder(async () => {
      const { term } = this.#leading(call.epoch);
      const wanted = { version: call.version, members: this.#others(call.members), k: call.k };
      refuseOlderSyncSet(term.syncSet, wanted);
      term.changeSyncSet(wanted);
      const deadline = this.#options.clock() + membersDeadlineMs;
      if (!(await this.#until(deadline, () => !this.#leads(term) || term.committedUnderRule))) {
        throw new Refusal("TIMEOUT", "the new members do not hold everything that is committed yet");
      }
      this.#leading(call.epoch);
      return { instance: this.#options.config.instance, version: call.version, committed: term.committedSeq };
    });
  }

  /** Permits to acknowledge for a time. Not in order with the other calls: those may wait, and a grant must not. */
  grant(call: GrantCall): GrantAnswer {
    this.#leading(call.epoch).term.grant(call.ttlMs);
    return { instance: this.#options.config.instance, epoch: call.epoch, ttlMs: call.ttlMs };
  }

  /** Limits what the primary takes in. With a deadline it answers once everything sequenced before is committed. */
  async drain(call: DrainCall): Promise<DrainAnswer> {
    const answer = await this.#setIntake(call, call.mode);
    if (call.deadlineMs === undefined) return answer;
    const { term } = this.#leading(call.epoch);
    const { lastSeq } = term;
    const deadline = this.#options.clock() + call.deadlineMs;
    const settled = await this.#until(deadline, () => !this.#leads(term) || term.committedSeq >= lastSeq);
    this.#leading(call.epoch);
    if (!settled)
      throw new Refusal("TIMEOUT", `${lastSeq - term.committedSeq} records are not committed; still drained`);
    return answer;
  }

  undrain(call: CallIdentity): Promise<DrainAnswer> {
    return this.#setIntake(call, "open");
  }

  /** Takes no more orders, and resolves once those that were sequenced are answered or `deadline` has passed. */
  async windDown(deadline: number): Promise<void> {
    if (!("term" in this.#standing)) return;
    const { term, desk } = this.#standing;
    term.intake = "reject";
    this.#become({ role: "draining", term, desk });
    await this.#until(deadline, () => !this.#leads(term) || term.committedSeq === term.lastSeq);
  }

  /** Ends all replication, for the end of the process. */
  async stop(): Promise<void> {
    await this.#leaveEpochsBelow(Number.POSITIVE_INFINITY, "standby");
    await this.#options.journal.flushed();
  }

  #setIntake(call: CallIdentity, intake: DrainAnswer["intake"]): Promise<DrainAnswer> {
    return this.#inOrder(() => {
      this.#leading(call.epoch).term.intake = intake;
      this.#options.onChange();
      return Promise.resolve({ instance: this.#options.config.instance, intake });
    });
  }

  #beginTerm(call: PromoteCall): PrimaryTerm {
    const { config, journal, queue, snapshots, exchange, clock, bootClock, timers, log, onChange } = this.#options;
    const { tradingPair, tickSize, lotSize } = config.rules;
    const { instance, clientIdWindow, limits } = config;
    const tradesBy = { tradingPair, tickSize, lotSize, clientIdWindow };
    const start: EpochStart = { kind: "epochStart", previous: journal.last, instance, ...tradesBy };
    const syncSet = { version: 1, members: this.#others(call.members), k: call.k };
    const options = { epoch: call.epoch, instance, syncSet, intake: call.resume };
    const world = { journal, queue, snapshots, limits, clock, bootClock, timers, log, onChange };
    const term = new PrimaryTerm({ ...options, ...world }, start);
    const desk = new OrderDesk({ term, exchange, clock, commitTimeoutMs: limits.commitTimeoutMs });
    this.#become({ role: "primary", term, desk });
    return term;
  }

  /** Ends leading or following an epoch below `epoch`. What must happen at once has happened when this returns. */
  #leaveEpochsBelow(epoch: number, then: "fenced" | "standby"): Promise<void> {
    const standing = this.#standing;
    if ("term" in standing) {
      if (standing.term.epoch >= epoch) return Promise.resolve();
      standing.term.end();
      // Commands that never reached the journal are nobody's history.
      this.#options.queue.cutAfter(this.#options.journal.last.seq);
      this.#options.queue.dropTickets();
      this.#become({ role: then, following: null });
      standing.desk.end();
      return Promise.resolve();
    }
    const { following } = standing;
    if (standing.role === "halted" || following === null || following.link.target.epoch >= epoch)
      return Promise.resolve();
    this.#become({ role: standing.role, following: null });
    return following.link.stop();
  }

  #become(standing: Standing): void {
    this.#standing = standing;
    this.#options.onChange();
  }

  get #promised(): number {
    return this.#options.promised.value;
  }

  #following(): Following | null {
    return "following" in this.#standing ? this.#standing.following : null;
  }

  #leads(term: PrimaryTerm): boolean {
    return "term" in this.#standing && this.#standing.term === term;
  }

  #leading(epoch: number): { term: PrimaryTerm; desk: OrderDesk } {
    if (epoch < this.#promised) throw this.#stale(epoch);
    if ("term" in this.#standing && this.#standing.term.epoch === epoch) return this.#standing;
    throw new Refusal("WRONG_STATE", `this replica is ${this.#standing.role} and does not lead epoch ${epoch}`);
  }

  #primaryEpoch(): number {
    if ("term" in this.#standing) return this.#standing.term.epoch;
    return lastEpochLedBy(this.#options.journal.epochTable.entries, this.#options.config.instance);
  }

  #refuseHalted(): void {
    if (this.#standing.role === "halted") throw new Refusal("HALTED", describeFault(this.#standing.fault));
  }

  #refuseStale(epoch: number): void {
    if (epoch < this.#promised) throw this.#stale(epoch);
  }

  #stale(epoch: number): Refusal {
    return new Refusal("STALE_EPOCH", `epoch ${this.#promised} was promised, ${epoch} is lower`, this.#promised);
  }

  /** Two primaries in one epoch, or one twice, would write two histories that nobody can tell apart. */
  #refuseUsedEpoch(epoch: number): void {
    const followed = this.#following()?.link.target;
    if (followed?.epoch === epoch) {
      throw new Refusal(
        "WRONG_STATE",
        `${followed.instance} leads epoch ${epoch}; a promotion needs an epoch of its own`,
      );
    }
    if (this.#options.journal.last.epoch >= epoch) {
      throw new Refusal("WRONG_STATE", `epoch ${epoch} has begun before; a promotion needs an epoch of its own`);
    }
  }

  #others(members: readonly string[]): readonly string[] {
    return members.filter((member) => member !== this.#options.config.instance);
  }

  #inOrder<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#calls.then(step);
    this.#calls = result.catch(() => undefined);
    return result;
  }

  async #until(deadline: number, done: () => boolean): Promise<boolean> {
    while (!done()) {
      if (this.#options.clock() >= deadline) return false;
      await new Promise<void>((resolve) => this.#options.timers.after(pollMs, resolve));
    }
    return true;
  }
}

/** A change that was overtaken by a later one must not undo it; the same change may come again. */
const refuseOlderSyncSet = (present: SyncSet, wanted: SyncSet): void => {
  const same =
    wanted.k === present.k &&
    wanted.members.length === present.members.length &&
    wanted.members.every((member) => present.members.includes(member));
  if (wanted.version > present.version || (wanted.version === present.version && same)) return;
  throw new Refusal(
    "WRONG_STATE",
    `the sync set has version ${present.version} already: version ${wanted.version} may not change it`,
  );
};

/** Why a replica is halted, and what a person can do. */
export const describeFault = ({ seq, deaths, error }: ApplyFault): string =>
  `record ${seq} ended this replica ${deaths} times while it was applied (${error}): roll out a corrected build, ` +
  "or remove the file last-apply from its volume and restart it to try once more";

const describe = ({ epoch, seq }: Position): string => `record ${seq} of epoch ${epoch}`;
