import type { EngineLimits } from "../../process/config.ts";
import { FatalError } from "../../process/exit.ts";
import { TestReplica, type TestReplicaOptions } from "../testReplica.ts";
import { SimulatedDisk } from "./simulatedDisk.ts";
import type { SimulatedNetwork } from "./simulatedNetwork.ts";
import { SimulatedProcess } from "./simulatedProcess.ts";

export interface Exit {
  readonly instance: string;
  readonly error: FatalError;
}

/** At a step of a machine's work: what it writes, syncs, sends or renames, counted over all its starts. */
export interface CrashPoint {
  readonly step: number;
  readonly kind: "kill" | "power";
}

export interface SimulatedMachineOptions {
  readonly name: string;
  readonly network: SimulatedNetwork;
  readonly limits: EngineLimits;
  readonly segmentBytes: number;
  readonly onApplied: (start: number, ...seen: Parameters<NonNullable<TestReplicaOptions["onApplied"]>>) => void;
  readonly onStarted: (replica: TestReplica) => void;
  /** The process ended by itself. */
  readonly onExit: (exit: Exit) => void;
  readonly crashPoint: CrashPoint | null;
  readonly clusterUid?: string;
}

export const dataMount = "/data";

/** A machine with a disk and at most one engine process. */
export class SimulatedMachine {
  readonly name: string;
  readonly disk: SimulatedDisk;
  /** Reasons for which its process may end by itself, because a test has broken what it needs. */
  readonly excuses = new Set<FatalError["reason"]>();
  readonly #options: SimulatedMachineOptions;
  #process: SimulatedProcess | null = null;
  #replica: TestReplica | null = null;
  #starts = 0;
  #steps = 0;

  constructor(options: SimulatedMachineOptions) {
    const { scheduler, random } = options.network;
    this.name = options.name;
    this.#options = options;
    this.disk = new SimulatedDisk(scheduler, random, dataMount);
  }

  /** Null while there is none, or it has not read its journal yet. */
  get replica(): TestReplica | null {
    return this.#replica;
  }

  /** Null while the machine has no process. */
  get process(): SimulatedProcess | null {
    return this.#process;
  }

  get steps(): number {
    return this.#steps;
  }

  start(): void {
    if (this.#process !== null) return;
    const { network } = this.#options;
    const process = new SimulatedProcess(network.scheduler, () => this.#noticeStep());
    this.#starts += 1;
    this.#process = process;
    network.restorePower(this.name);
    void this.#boot(process, this.#starts);
  }

  /** Like SIGKILL: what was written stays written, and the other sides hear that the connections are closed. */
  kill(): void {
    const process = this.#leave();
    if (process === null) return;
    this.disk.loseProcess(process);
    this.#options.network.loseProcess(process);
  }

  /** The machine goes off, and only what was synced is certain. */
  losePower(): void {
    const process = this.#leave();
    if (process !== null) this.#options.network.losePower(this.name, process);
    this.disk.losePower();
  }

  stop(): void {
    this.#process?.stop();
  }

  go(): void {
    this.#process?.go();
  }

  /** To be called by whoever meets an error that ends the process. */
  fail(error: FatalError): void {
    if (this.#process === null) return;
    this.kill();
    this.#options.onExit({ instance: this.name, error });
  }

  async #boot(process: SimulatedProcess, start: number): Promise<void> {
    const { name, network, limits, segmentBytes, onApplied, onStarted, clusterUid } = this.#options;
    const world = {
      disk: this.disk.of(process),
      network: network.of(name, process),
      clock: process.clock,
      timers: process.timers,
    };
    try {
      const replica = await TestReplica.run({
        instance: name,
        dataDir: dataMount,
        limits,
        world,
        segmentBytes,
        replicationAddress: { host: name, port: 7080 },
        onApplied: (...seen) => onApplied(start, ...seen),
        onFailure: (error) => {
          if (!process.ended) this.fail(error);
        },
        ...(clusterUid === undefined ? {} : { clusterUid }),
      });
      if (process.ended) return;
      this.#replica = replica;
      onStarted(replica);
    } catch (error) {
      if (process.ended) return;
      this.fail(error instanceof FatalError ? error : new FatalError("io", String(error), { cause: error }));
    }
  }

  #leave(): SimulatedProcess | null {
    const process = this.#process;
    process?.end();
    this.#process = null;
    this.#replica = null;
    return process;
  }

  #noticeStep(): void {
    const { crashPoint } = this.#options;
    this.#steps += 1;
    if (crashPoint === null || this.#steps !== crashPoint.step) return;
    if (crashPoint.kind === "kill") this.kill();
    else this.losePower();
  }
}
