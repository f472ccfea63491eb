import { commonEnd, type EpochTable } from "../journal/epochTable.ts";
import type { Journal } from "../journal/journal.ts";
import type { Command } from "../journal/record.ts";
import { BatchWriter } from "../journal/recordBatch.ts";
import type { Clock } from "../process/clock.ts";
import type { EngineLimits } from "../process/config.ts";
import type { Log } from "../process/log.ts";
import type { Timers } from "../process/timers.ts";
import { commitPoint } from "../replication/commitRule.ts";
import { FollowerLink } from "../replication/followerLink.ts";
import type { Hello, Refused } from "../replication/handshake.ts";
import type { Connection } from "../replication/network.ts";
import { RecentBatches } from "../replication/recentBatches.ts";
import type { ReplicaSnapshots } from "../snapshots/replicaSnapshots.ts";
import type { CommitQueue, Ticket } from "./commitQueue.ts";
import { Grant } from "./grant.ts";
import { LeadershipProof } from "./leadershipProof.ts";

/** Whose durable copies an acknowledgement needs: k of `members`, besides the primary. */
export interface SyncSet {
  readonly version: number;
  readonly members: readonly string[];
  readonly k: number;
}

/** What a primary takes in: everything, cancellations only, or nothing. */
export type Intake = "open" | "cancelOnly" | "reject";

export interface SyncMember {
  readonly instance: string;
  readonly connected: boolean;
  readonly durableSeq: number;
  readonly inSync: boolean;
}

/** Why nothing can be sequenced now; null when it can. */
export type Gate =
  | { readonly kind: "open" }
  | { readonly kind: "cancelOnly" }
  | { readonly kind: "shut"; readonly why: string };

export interface PrimaryTermOptions {
  readonly epoch: number;
  readonly instance: string;
  readonly syncSet: SyncSet;
  readonly intake: Intake;
  readonly journal: Journal;
  readonly queue: CommitQueue;
  readonly snapshots: ReplicaSnapshots;
  readonly limits: EngineLimits;
  readonly clock: Clock;
  /** What a grant is measured on. */
  readonly bootClock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Something that status shows has changed. */
  readonly onChange: () => void;
}

/**
 * One replica's time as primary of one epoch. Sequences commands, replicates and commits them. When it has
 * ended it commits nothing any more, and never begins again.
 */
export class PrimaryTerm {
  readonly epoch: number;
  readonly startSeq: number;
  intake: Intake;
  readonly #options: PrimaryTermOptions;
  readonly #writer = new BatchWriter();
  readonly #recent = new RecentBatches();
  readonly #links = new Map<string, FollowerLink>();
  readonly #proof: LeadershipProof;
  readonly #grant: Grant;
  #syncSet: SyncSet;
  #nextSeq: number;
  #begun = false;
  #ended = false;
  #sealScheduled = false;
  #satisfied = false;
  /** As of the last heartbeat, acknowledgement or fsync: asking the boot clock for every order costs too much. */
  #granted = false;

  /** Appends the epoch's first record; the term counts once that is durable here, see {@link begin}. */
  constructor(options: PrimaryTermOptions, start: Command) {
    this.#options = options;
    this.epoch = options.epoch;
    this.intake = options.intake;
    this.#syncSet = options.syncSet;
    this.#grant = new Grant(options.bootClock);
    this.startSeq = options.journal.last.seq + 1;
    this.#nextSeq = this.startSeq;
    this.#proof = new LeadershipProof({
      clock: options.clock,
      timers: options.timers,
      suspicionMs: options.limits.detectionMs / 2,
      pulse: (ping) => this.#pulse(ping),
    });
    this.#sequence(start, null);
    this.#seal();
  }

  get syncSet(): SyncSet {
    return this.#syncSet;
  }

  get committedSeq(): number {
    return this.#options.queue.committed;
  }

  get lastSeq(): number {
    return this.#nextSeq - 1;
  }

  /** Enough members are there to commit with, as of the last heartbeat or acknowledgement. */
  get satisfied(): boolean {
    return this.#satisfied;
  }

  /** The epoch has begun for good: its first record is committed and everything before it applied. */
  get established(): boolean {
    return this.#options.queue.applied >= this.startSeq;
  }

  /** Milliseconds for which this primary may still acknowledge; null while the commit rule is enough of a fence. */
  get grantRemainingMs(): number | null {
    return this.#needsGrant ? this.#grant.remainingMs : null;
  }

  members(): SyncMember[] {
    const now = this.#options.clock();
    return this.#syncSet.members.map((instance) => {
      const link = this.#links.get(instance);
      if (link === undefined) return { instance, connected: false, durableSeq: 0, inSync: false };
      const heard = now - link.lastHeardAt <= this.#options.limits.detectionMs;
      const close = link.durable > 0 && this.lastSeq - link.durable <= this.#options.limits.maxLagRecords;
      return { instance, connected: true, durableSeq: link.durable, inSync: heard && close };
    });
  }

  gate(): Gate {
    if (this.#ended) return { kind: "shut", why: "this replica is no longer the primary" };
    if (!this.#granted) return { kind: "shut", why: "no valid grant, which k = 0 needs: POST /v1/grant" };
    if (!this.established) return { kind: "shut", why: `epoch ${this.epoch} is not committed yet` };
    if (!this.#satisfied) return { kind: "shut", why: `fewer than ${this.#syncSet.k} standbys are in sync` };
    if (this.intake === "reject") return { kind: "shut", why: "the primary is being drained" };
    if (this.#options.queue.unapplied >= this.#options.limits.maxInFlight) {
      return { kind: "shut", why: "too many orders wait to be committed" };
    }
    return { kind: this.intake };
  }

  /**
   * Lets followers in; to be called once the epoch's first record is durable here. Before that a crash would forget
   * that this epoch was used, and leading it again would give followers two different histories of it.
   */
  begin(): void {
    this.#begun = true;
    this.advance();
  }

  /** Gives `command` its place in the history. `ticket` hears of it once it is committed, unless the term ends before. */
  sequence(command: Command, ticket: Ticket): void {
    this.#sequence(command, ticket);
    if (this.#sealScheduled) return;
    this.#sealScheduled = true;
    this.#options.timers.soon(() => this.#seal());
  }

  /**
   * True once k members have answered a question asked after this call: only then is it certain that no other primary
   * was elected before the call, so that "there is no such order" is true. False when the time ran out.
   */
  proveLeadership(): Promise<boolean> {
    if (this.#ended) return Promise.resolve(false);
    return this.#proof.request(this.#options.limits.commitTimeoutMs, (ping) => this.#provenBy(ping));
  }

  /** Answers a follower's hello. */
  accept(hello: Hello, connection: Connection): FollowerLink | Refused {
    const { instance, journal, snapshots, clock, log } = this.#options;
    if (!this.#begun) return { code: "NOT_PRIMARY", detail: `epoch ${this.epoch} is about to begin here` };
    if (hello.promised > this.epoch) {
      return { code: "STALE_EPOCH", detail: `epoch ${hello.promised} was promised, this primary leads ${this.epoch}` };
    }
    if (hello.epoch !== this.epoch) {
      return { code: "WRONG_EPOCH", detail: `this primary leads epoch ${this.epoch}, not ${hello.epoch}` };
    }
    const common = this.#commonEnd(hello.history);
    const isTooFarBehind = common + 1 < journal.firstSeq;
    const snapshot = isTooFarBehind ? snapshots.store.newest : undefined;
    if (isTooFarBehind && snapshot === undefined) {
      const detail = `the journal begins at record ${journal.firstSeq}, and there is no snapshot of what comes before`;
      return { code: "NEED_SNAPSHOT", detail };
    }
    this.#links.get(hello.instance)?.close();
    const link = new FollowerLink({
      connection,
      instance: hello.instance,
      welcome: { instance, epoch: this.epoch, commonEnd: common, ...(snapshot === undefined ? {} : { snapshot }) },
      journal,
      recent: this.#recent,
      clock,
      log,
      committed: () => this.committedSeq,
      transfer: (send) => snapshots.transfer(send),
      onOffer: (manifest, transfer) => snapshots.offered(manifest, transfer),
      onAck: () => this.advance(),
      onClosed: (closed) => this.#forget(closed),
    });
    this.#links.set(hello.instance, link);
    log.info("follower connected", { follower: hello.instance, epoch: this.epoch });
    link.pump();
    this.#options.onChange();
    return link;
  }

  /** Permits to acknowledge for `ttlMs`, where k = 0 asks for that. */
  grant(ttlMs: number): void {
    this.#grant.renew(ttlMs);
    this.advance();
  }

  changeSyncSet(syncSet: SyncSet): void {
    this.#syncSet = syncSet;
    this.advance();
    this.#options.onChange();
  }

  /** Whether everything committed is durable under the present sync set. */
  get committedUnderRule(): boolean {
    return this.#commitPointFrom(0) >= this.committedSeq;
  }

  /** Looks again at what is committed, after an acknowledgement or an own fsync. */
  advance(): void {
    if (this.#ended) return;
    this.#proof.checkForPause();
    this.#noticeGrant();
    if (this.#granted) this.#options.queue.advance(this.#commitPointFrom(this.committedSeq));
    this.#proof.settle((ping) => this.#provenBy(ping));
    this.#noticeSatisfaction();
  }

  /** To be called at every heartbeat. */
  tick(): void {
    if (this.#ended) return;
    this.#proof.tick();
    this.#closeSilentLinks();
    this.advance();
  }

  /** Nothing is committed and no follower is served after this. */
  end(): void {
    this.#ended = true;
    this.#proof.abandon();
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  #sequence(command: Command, ticket: Ticket | null): void {
    const record = { epoch: this.epoch, seq: this.#nextSeq, committed: this.committedSeq, command };
    this.#nextSeq += 1;
    this.#writer.add(record);
    this.#options.queue.add(record, ticket);
  }

  /** Hands what was sequenced in this turn of the event loop to the disk and to the followers. */
  #seal(): void {
    this.#sealScheduled = false;
    const batch = this.#ended ? null : this.#writer.take();
    if (batch === null) return;
    this.#options.journal.append(batch);
    this.#recent.add(batch, this.#options.journal.durable.seq);
    for (const link of this.#links.values()) link.pump();
  }

  #commitPointFrom(committed: number): number {
    const counting = this.#countingLinks();
    return commitPoint({
      ownDurable: this.#options.journal.durable.seq,
      memberDurable: counting.map((link) => link.durable),
      k: this.#syncSet.k,
      epochStart: this.startSeq,
      committed,
    });
  }

  /** Members whose acknowledgements are known to be younger than any pause of this process. */
  #countingLinks(): FollowerLink[] {
    return this.#syncSet.members
      .map((instance) => this.#links.get(instance))
      .filter((link) => link !== undefined)
      .filter((link) => link.echo >= this.#proof.requiredEcho);
  }

  #provenBy(ping: number): boolean {
    return this.#granted && this.#countingLinks().filter((link) => link.echo >= ping).length >= this.#syncSet.k;
  }

  #pulse(ping: number): void {
    for (const link of this.#links.values()) link.pulse(ping);
  }

  #closeSilentLinks(): void {
    const limit = this.#options.clock() - this.#options.limits.detectionMs * 10;
    for (const link of this.#links.values()) if (link.lastHeardAt < limit) link.close();
  }

  #forget(link: FollowerLink): void {
    if (this.#links.get(link.instance) !== link) return;
    this.#links.delete(link.instance);
    if (this.#ended) return;
    this.#options.log.info("follower disconnected", { follower: link.instance, epoch: this.epoch });
    this.#options.onChange();
  }

  /** With k = 0 no standby's refusal stops this primary; alone in its sync set it needs none, as nobody else can lead. */
  get #needsGrant(): boolean {
    return this.#syncSet.k === 0 && this.#syncSet.members.length > 0;
  }

  #noticeGrant(): void {
    const granted = !this.#needsGrant || this.#grant.valid;
    if (granted === this.#granted) return;
    this.#granted = granted;
    if (!granted) this.#options.log.warn("the grant has ended: nothing is acknowledged", { epoch: this.epoch });
    this.#options.onChange();
  }

  #noticeSatisfaction(): void {
    const satisfied = this.members().filter((member) => member.inSync).length >= this.#syncSet.k;
    if (satisfied === this.#satisfied) return;
    this.#satisfied = satisfied;
    this.#options.onChange();
  }

  #commonEnd(theirs: EpochTable): number {
    return commonEnd(this.#options.journal.epochTable, theirs);
  }
}
