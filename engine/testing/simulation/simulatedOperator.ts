import { comparePositions, type Position } from "../../journal/record.ts";
import type { FenceAnswer } from "../../replica/calls.ts";
import type { TestReplica } from "../testReplica.ts";
import type { Reply, SimulatedCluster } from "./simulatedCluster.ts";
import type { SimulatedMachine } from "./simulatedMachine.ts";

/** The lock that all operators share; every change is a compare-and-swap of the whole. */
export interface Lease {
  readonly epoch: number;
  /** Empty during an election. */
  readonly holder: string;
  /** Somebody has led. */
  readonly established: boolean;
}

export interface Election {
  /** Promises to wait for; n - k, unless a test breaks that. */
  readonly promises: number;
  /** What the primary is told to need; k, unless a test breaks that. */
  readonly kToldToPrimary: number;
}

export interface SharedLease {
  value: Lease;
}

interface View {
  readonly machine: SimulatedMachine;
  readonly leads: number | null;
  /** Has the standbys that it needs. */
  readonly satisfied: boolean;
  readonly follows: number | null;
  readonly promised: number;
  readonly blank: boolean;
}

const callDeadlineMs = 60;
const lookEveryMs = 12;
/** For a primary that needs no standby; renewed at every look. */
const grantMs = 80;
/** A primary that does not answer, or cannot commit, for so long is replaced. */
const patienceMs = 50;

/** Watches and elects by the rules that the product's operator has. It may be killed at any step: the lease is all it leaves. */
export class SimulatedOperator {
  readonly #cluster: SimulatedCluster;
  readonly #lease: SharedLease;
  readonly #rule: Election;
  #alive = true;
  #primaryWellAt: number;
  #switchover = false;
  elections = 0;

  constructor(cluster: SimulatedCluster, lease: SharedLease, rule: Election) {
    this.#cluster = cluster;
    this.#lease = lease;
    this.#rule = rule;
    this.#primaryWellAt = cluster.scheduler.now;
  }

  async run(): Promise<void> {
    while (this.#isAlive()) {
      await this.#look();
      await this.#sleep(lookEveryMs);
    }
  }

  kill(): void {
    this.#alive = false;
  }

  /** A question each time: it may be killed during any wait. */
  #isAlive(): boolean {
    return this.#alive;
  }

  /** Moves the lead at the next look, although nothing is wrong. */
  switchOver(): void {
    this.#switchover = true;
  }

  async #look(): Promise<void> {
    const views = await this.#views();
    if (!this.#isAlive()) return;
    const { epoch, holder } = this.#lease.value;
    const leading = views.find(({ leads }) => leads === epoch);
    if (holder === "" && leading !== undefined) this.#swap({ epoch, holder: leading.machine.name, established: true });
    if (leading?.satisfied === true) this.#primaryWellAt = this.#cluster.scheduler.now;
    const isSilent = this.#cluster.scheduler.now - this.#primaryWellAt > patienceMs;
    if (this.#lease.value.holder === "" || isSilent || this.#switchover) {
      if (this.#switchover && leading !== undefined) await this.#demote(leading.machine, epoch);
      this.#switchover = false;
      await this.#elect(views);
      this.#primaryWellAt = this.#cluster.scheduler.now;
      return;
    }
    if (leading !== undefined && this.#rule.kToldToPrimary === 0) {
      await this.#call(leading.machine, (replica) => replica.grant(epoch, grantMs));
    }
    await this.#placeFollowers(views.filter(({ leads, follows }) => leads !== epoch && follows !== epoch));
  }

  async #demote(machine: SimulatedMachine, epoch: number): Promise<void> {
    await this.#call(machine, (replica) => replica.demote(epoch, 20));
  }

  async #elect(views: readonly View[]): Promise<void> {
    if (!this.#isAlive()) return;
    const before = this.#lease.value;
    const known = Math.max(before.epoch, ...views.flatMap(({ promised, leads }) => [promised, leads ?? 0]));
    const established = before.established || views.some(({ blank }) => !blank);
    const canPromise = established ? views.filter(({ blank }) => !blank).length : views.length;
    // Asks before it disturbs: a failed election takes standbys away from a primary that may still work.
    if (canPromise < (established ? 1 : this.#cluster.machines.length)) return;
    const epoch = known + 1;
    const decisiveEpoch = before.holder === "" ? 0 : known;
    if (!this.#swap({ epoch, holder: "", established })) return;
    this.elections += 1;
    const answers = await this.#fence(epoch);
    if (!this.#isAlive() || !this.#isEnough(answers, established, decisiveEpoch)) return;
    const best = answers.toSorted(byAdvance)[0];
    if (best === undefined) return;
    const chosen = this.#cluster.machine(best.instance);
    if (!(await this.#promote(chosen, epoch, best.durable)) || !this.#isAlive()) return;
    if (!this.#swap({ epoch, holder: best.instance, established: true })) return;
    await this.#placeFollowers(views.filter(({ machine }) => machine !== chosen));
  }

  async #fence(epoch: number): Promise<FenceAnswer[]> {
    const { recorder, scheduler, machines } = this.#cluster;
    const replies = await Promise.all(
      machines.map((machine) =>
        this.#call(machine, async (replica, isAlive) => {
          const answer = await replica.fence(epoch);
          if (isAlive()) {
            recorder.promises.push({
              kind: "given",
              instance: machine.name,
              epoch: answer.promised,
              at: scheduler.now,
            });
          }
          return answer;
        }),
      ),
    );
    return replies.flatMap((reply) => (reply.kind === "answer" ? [reply.value] : []));
  }

  #isEnough(answers: readonly FenceAnswer[], established: boolean, decisiveEpoch: number): boolean {
    const full = answers.filter(({ blank }) => !blank);
    if (!established) return full.length === 0 && answers.length === this.#cluster.machines.length;
    if (full.length >= this.#rule.promises) return true;
    return decisiveEpoch > 0 && full.some(({ primaryEpoch }) => primaryEpoch >= decisiveEpoch);
  }

  async #promote(machine: SimulatedMachine, epoch: number, minPosition: Position): Promise<boolean> {
    const { names } = this.#cluster;
    const k = this.#rule.kToldToPrimary;
    const reply = await this.#call(machine, (replica) => replica.promote(epoch, names, { k, minPosition }));
    return reply.kind === "answer";
  }

  async #placeFollowers(views: readonly View[]): Promise<void> {
    const { epoch, holder } = this.#lease.value;
    if (holder === "" || !this.#isAlive()) return;
    const upstream = { instance: holder, replication: { host: holder, port: 7080 }, orders: `${holder}:7000` };
    await Promise.all(
      views
        .filter(({ machine }) => machine.name !== holder)
        .map(({ machine }) =>
          this.#call(machine, (replica) => replica.replica.follow({ ...replica.identity(epoch), upstream })),
        ),
    );
  }

  async #views(): Promise<View[]> {
    const replies = await Promise.all(
      this.#cluster.machines.map((machine) =>
        this.#call(machine, ({ replica, core }) => {
          const { standing } = replica;
          const leads = "term" in standing ? standing.term.epoch : null;
          const satisfied = "term" in standing && standing.term.satisfied;
          const follows = "following" in standing ? (standing.following?.link.target.epoch ?? null) : null;
          return { machine, leads, satisfied, follows, promised: core.promised, blank: replica.blank };
        }),
      ),
    );
    return replies.flatMap((reply) => (reply.kind === "answer" ? [reply.value] : []));
  }

  #swap(next: Lease): boolean {
    // A step of a killed operator may still be on its way back; nothing of it reaches the lease.
    if (!this.#isAlive() || next.epoch < this.#lease.value.epoch) return false;
    if (next.epoch === this.#lease.value.epoch && this.#lease.value.holder !== "") return false;
    this.#lease.value = next;
    return true;
  }

  #call<T>(
    machine: SimulatedMachine,
    step: (replica: TestReplica, isAlive: () => boolean) => T | Promise<T>,
  ): Promise<Reply<T>> {
    return this.#cluster.request("operator", machine, callDeadlineMs, step);
  }

  #sleep(milliseconds: number): Promise<void> {
    return this.#cluster.scheduler.sleep(milliseconds);
  }
}

const byAdvance = (a: FenceAnswer, b: FenceAnswer): number =>
  comparePositions(b.durable, a.durable) || a.instance.localeCompare(b.instance);
