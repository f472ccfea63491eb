import { Exchange } from "../../exchange/exchange.ts";
import type { JournalRecord } from "../../journal/record.ts";
import { checkInvariants } from "../invariants/checkInvariants.ts";
import type { History, JournaledRecord } from "../invariants/history.ts";
import type { Violation } from "../invariants/violation.ts";
import { type FaultName, faults, repair } from "./faultPlan.ts";
import { seededRandom } from "./random.ts";
import { journaled } from "./recorder.ts";
import { SimulatedClient } from "./simulatedClient.ts";
import { SimulatedCluster } from "./simulatedCluster.ts";
import { type CrashPoint, dataMount, type SimulatedMachine } from "./simulatedMachine.ts";
import { type SharedLease, SimulatedOperator } from "./simulatedOperator.ts";

/** A rule of the protocol that a run breaks on purpose: the simulation must notice. */
export type BrokenRule = "ackBeforeSync" | "fenceNotDurable" | "ackBeforeK" | "tooFewFences" | "tailNotCut";

export interface SimulationOptions {
  readonly seed: number;
  readonly replicas?: number;
  readonly k?: number;
  /** Virtual time during which things go wrong. */
  readonly milliseconds?: number;
  /** All, unless named. */
  readonly faults?: readonly FaultName[];
  readonly crashPoint?: CrashPoint;
  readonly broken?: BrokenRule;
}

export interface SimulationResult {
  readonly description: string;
  readonly violations: readonly Violation[];
  /** Ends of processes and errors that nothing explains, and replicas that never agreed again. */
  readonly surprises: readonly string[];
  readonly history: History;
  readonly elections: number;
  readonly exits: readonly string[];
  /** What the first machine did, see {@link CrashPoint}. */
  readonly steps: number;
}

const settleMs = 10_000;
const clientCount = 3;

/** One run from its seed: the same options give the same result. */
export const simulate = async (options: SimulationOptions): Promise<SimulationResult> => {
  const random = seededRandom(options.seed);
  const replicas = options.replicas ?? random.integer(2, 5);
  const k = options.k ?? random.integer(replicas === 2 ? 1 : 0, replicas - 1);
  const cluster = new SimulatedCluster({ random, replicas, crashPoint: options.crashPoint ?? null });
  breakDisks(cluster.machines, options.broken);
  const run = new Run(cluster, k, options);
  const stuck = await run.carryOut();
  const history = await run.history();
  return {
    description: `seed ${options.seed}, ${replicas} replicas, k ${k}`,
    violations: checkInvariants(history),
    surprises: [...cluster.surprises, ...stuck],
    history,
    elections: run.elections,
    exits: cluster.exits.map(({ error }) => error.reason),
    steps: cluster.machines[0]?.steps ?? 0,
  };
};

class Run {
  readonly #cluster: SimulatedCluster;
  readonly #options: SimulationOptions;
  readonly #k: number;
  readonly #lease: SharedLease = { value: { epoch: 0, holder: "", established: false } };
  readonly #clients: SimulatedClient[];
  readonly #operators: SimulatedOperator[] = [];
  #disturbing = true;

  constructor(cluster: SimulatedCluster, k: number, options: SimulationOptions) {
    this.#cluster = cluster;
    this.#k = k;
    this.#options = options;
    this.#clients = Array.from({ length: clientCount }, (_, index) => new SimulatedClient(cluster, `c${index}`));
  }

  get elections(): number {
    return this.#operators.reduce((sum, { elections }) => sum + elections, 0);
  }

  /** Answers why the replicas did not come to agree in the end; empty when they did. */
  async carryOut(): Promise<string[]> {
    const { scheduler, machines, surprises } = this.#cluster;
    for (const machine of machines) machine.start();
    this.#startOperator();
    for (const client of this.#clients) void client.run();
    // An empty replica proves nothing in an election: a cluster that loses its first primary too early waits for people.
    await scheduler.runUntil(() => machines.every(({ replica }) => replica?.replica.blank === false), 2_000);
    void this.#disturb();
    const end = scheduler.now + (this.#options.milliseconds ?? 500);
    await scheduler.runUntil(() => false, end);
    this.#disturbing = false;
    for (const client of this.#clients) client.stop();
    // What was going wrong comes right by itself within this time; then nothing else goes wrong.
    await scheduler.runUntil(() => false, scheduler.now + 250);
    repair(this.#cluster);
    const keepRunning = (): void => {
      for (const machine of machines) machine.start();
      scheduler.after(20, keepRunning);
    };
    keepRunning();
    const agreed = await scheduler.runUntil(() => this.#agree() || surprises.length > 0, scheduler.now + settleMs);
    return agreed ? [] : [`the replicas do not come to agree: ${this.#describe()}`];
  }

  async history(): Promise<History> {
    const { machines, recorder, scheduler } = this.#cluster;
    const journals = new Map<string, readonly JournaledRecord[]>();
    let reading = machines.length;
    for (const { name, replica } of machines) {
      const read =
        replica === null ? Promise.resolve([]) : readAll(replica.journal.read(1, replica.journal.durable.seq));
      void read.then((records) => {
        journals.set(name, records.map(journaled));
        reading -= 1;
        if (journals.size === 1) this.#replay(records);
      });
    }
    await scheduler.runUntil(() => reading === 0, scheduler.now + 1_000);
    return recorder.history(journals);
  }

  /** The journal alone, applied from the start, as one more replica. */
  #replay(records: readonly JournalRecord[]): void {
    const exchange = new Exchange();
    for (const record of records) {
      this.#cluster.recorder.noteApplied("journal alone", 1, record, exchange.apply(record), exchange);
    }
  }

  #startOperator(): void {
    const n = this.#cluster.machines.length;
    const { broken } = this.#options;
    const k = this.#k;
    const operator = new SimulatedOperator(this.#cluster, this.#lease, {
      promises: broken === "tooFewFences" ? 1 : n - k,
      kToldToPrimary: broken === "ackBeforeK" ? Math.max(0, k - 1) : k,
    });
    this.#operators.push(operator);
    void operator.run();
  }

  async #disturb(): Promise<void> {
    const { random, scheduler, machines } = this.#cluster;
    const names = this.#options.faults ?? (Object.keys(faults) as FaultName[]);
    for (;;) {
      await scheduler.sleep(random.between(3, 90));
      if (!this.#disturbing) return;
      const choice = random.next();
      if (choice < 0.1) this.#operators.at(-1)?.switchOver();
      else if (choice < 0.15) this.#replaceOperator();
      else if (names.length > 0) void faults[random.pick(names)](this.#cluster, random.pick(machines));
      // A process that ended by itself is started again, as its node does it.
      for (const machine of machines) scheduler.after(random.between(60, 200), () => machine.start());
    }
  }

  #replaceOperator(): void {
    this.#operators.at(-1)?.kill();
    this.#startOperator();
  }

  #agree(): boolean {
    const { machines } = this.#cluster;
    const { holder, epoch } = this.#lease.value;
    const leader = machines.find(({ name }) => name === holder)?.replica?.replica.standing;
    if (leader === undefined || !("term" in leader) || leader.term.epoch !== epoch || !leader.term.established)
      return false;
    const end = leader.term.lastSeq;
    return machines.every(
      ({ replica }) => replica !== null && replica.exchange.appliedSeq === end && replica.journal.durable.seq === end,
    );
  }

  #describe(): string {
    const { epoch, holder } = this.#lease.value;
    const each = this.#cluster.machines.map(({ name, replica }) => {
      if (replica === null) return `${name} is down`;
      const { standing } = replica.replica;
      const { durable } = replica.journal;
      return `${name} is ${standing.role} at ${durable.epoch}/${durable.seq}, applied ${replica.exchange.appliedSeq}`;
    });
    return `lease ${epoch} ${holder}; ${each.join("; ")}`;
  }
}

const readAll = async (
  batches: AsyncIterable<{ readonly records: readonly JournalRecord[] }>,
): Promise<JournalRecord[]> => {
  const all: JournalRecord[] = [];
  for await (const { records } of batches) all.push(...records);
  return all;
};

const breakDisks = (machines: readonly SimulatedMachine[], broken: BrokenRule | undefined): void => {
  for (const { disk } of machines) {
    if (broken === "ackBeforeSync") disk.liesAbout = (path) => path.endsWith(".log");
    if (broken === "fenceNotDurable") disk.liesAbout = (path) => path === dataMount;
    if (broken === "tailNotCut") disk.keepsTails = true;
  }
};
