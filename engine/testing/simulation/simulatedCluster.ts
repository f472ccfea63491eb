import type { EngineLimits } from "../../process/config.ts";
import { FatalError } from "../../process/exit.ts";
import { Refusal } from "../../replica/refusal.ts";
import { type TestReplica, testLimits } from "../testReplica.ts";
import type { Random } from "./random.ts";
import { Recorder } from "./recorder.ts";
import { Scheduler } from "./scheduler.ts";
import { type CrashPoint, type Exit, SimulatedMachine } from "./simulatedMachine.ts";
import { SimulatedNetwork } from "./simulatedNetwork.ts";

/** Short times: a run of a second then holds many elections. */
export const simulatedLimits: EngineLimits = {
  ...testLimits,
  detectionMs: 60,
  heartbeatMs: 10,
  commitTimeoutMs: 40,
  maxInFlight: 200,
};

/** What came back of a request. */
export type Reply<T> =
  | { readonly kind: "answer"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Lost on the way, on the way back, or still at work: unknown. */
  | { readonly kind: "silence" };

export interface ClusterOptions {
  readonly random: Random;
  readonly replicas: number;
  /** The `step`th thing that the first machine does ends it. */
  readonly crashPoint: CrashPoint | null;
}

/** Machines, the network between them, and what is written down of them. */
export class SimulatedCluster {
  readonly scheduler = new Scheduler();
  readonly random: Random;
  readonly network: SimulatedNetwork;
  readonly recorder = new Recorder();
  readonly machines: readonly SimulatedMachine[];
  /** Ends that no injected fault explains, and errors that are neither a refusal nor an end. */
  readonly surprises: string[] = [];
  readonly exits: Exit[] = [];

  constructor({ random, replicas, crashPoint }: ClusterOptions) {
    this.random = random;
    this.network = new SimulatedNetwork(this.scheduler, random);
    this.machines = Array.from({ length: replicas }, (_, index) =>
      this.#createMachine(`te-${index}`, index === 0 ? crashPoint : null),
    );
  }

  get names(): string[] {
    return this.machines.map(({ name }) => name);
  }

  machine(name: string): SimulatedMachine {
    const found = this.machines.find((machine) => machine.name === name);
    if (found === undefined) throw new Error(`there is no machine ${name}`);
    return found;
  }

  /**
   * Lets the process of `machine` carry out `step`, as if `from` had asked it over the network. `step` must not act on the
   * world of the test after the process has ended; {@link isAlive} tells.
   */
  request<T>(
    from: string,
    machine: SimulatedMachine,
    deadlineMs: number,
    step: (replica: TestReplica, isAlive: () => boolean) => T | Promise<T>,
  ): Promise<Reply<T>> {
    const { scheduler, network } = this;
    return new Promise((resolve) => {
      scheduler.after(deadlineMs, () => resolve({ kind: "silence" }));
      const answer = (reply: Reply<T>): void => {
        if (network.isBlocked(machine.name, from)) return;
        scheduler.after(network.latencyMs(), () => resolve(reply));
      };
      scheduler.after(network.latencyMs(), () => {
        const { process } = machine;
        if (process === null || network.isBlocked(from, machine.name)) return;
        process.deliver(() => {
          const { replica } = machine;
          if (replica === null) {
            answer({ kind: "refused", refusal: new Refusal("RECOVERING", "the journal is still being read") });
            return;
          }
          new Promise<T>((done) => done(step(replica, () => !process.ended))).then(
            (value) => {
              if (!process.ended) answer({ kind: "answer", value });
            },
            (error: unknown) => {
              if (process.ended) return;
              if (error instanceof FatalError) machine.fail(error);
              else if (error instanceof Refusal) answer({ kind: "refused", refusal: error });
              else this.surprises.push(`${machine.name}: ${String(error)}`);
            },
          );
        });
      });
    });
  }

  #createMachine(name: string, crashPoint: CrashPoint | null): SimulatedMachine {
    const machine: SimulatedMachine = new SimulatedMachine({
      name,
      network: this.network,
      limits: simulatedLimits,
      segmentBytes: this.random.integer(600, 6_000),
      crashPoint,
      onApplied: (start, record, effect, exchange) => this.recorder.noteApplied(name, start, record, effect, exchange),
      onStarted: ({ core }) => {
        const { now } = this.scheduler;
        this.recorder.promises.push({ kind: "found", instance: name, epoch: core.promised, at: now });
      },
      onExit: (exit) => {
        this.exits.push(exit);
        const { reason, message } = exit.error;
        if (!machine.excuses.has(reason)) this.surprises.push(`${name} ended itself: ${reason}: ${message}`);
      },
    });
    return machine;
  }
}
