import { Worker } from "node:worker_threads";

import type { ListenAddress } from "../process/config.ts";
import { FatalError } from "../process/exit.ts";
import { messageOf } from "../process/log.ts";
import type { ReplicaCall } from "../replica/calls.ts";
import { problemOf, Refusal } from "../replica/refusal.ts";
import { AnswerMemory } from "./answerMemory.ts";
import type { Answer, ControlThreadData, FromControl, Query, ToControl } from "./messages.ts";
import type { StatusSnapshot } from "./status.ts";

export interface ControlThreadOptions {
  readonly data: ControlThreadData;
  readonly snapshot: () => StatusSnapshot;
  /** Carries out a call; a {@link Refusal} becomes its answer. */
  readonly call: (call: ReplicaCall) => Promise<unknown>;
  readonly query: (query: Query) => unknown;
  readonly onFailure: (error: FatalError) => void;
}

/** The main thread's side of the control thread. */
export class ControlThread {
  readonly #options: ControlThreadOptions;
  readonly #worker: Worker;
  readonly #memory = new AnswerMemory();
  #publishScheduled = false;
  #stopping = false;

  private constructor(options: ControlThreadOptions) {
    this.#options = options;
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), {
      workerData: { ...options.data, snapshot: options.snapshot() },
    });
    this.#worker.on("message", (message: FromControl) => this.#receive(message));
    this.#worker.on("error", (error) => this.#fail(`the control thread failed: ${messageOf(error)}`));
    this.#worker.on("exit", () => this.#fail("the control thread ended"));
  }

  /** Resolves once the control port is open. */
  static async start(options: ControlThreadOptions): Promise<{ thread: ControlThread; address: ListenAddress }> {
    const thread = new ControlThread(options);
    const address = await new Promise<ListenAddress>((resolve, reject) => {
      thread.#worker.on("message", (message: FromControl) => {
        if (message.kind === "listening") resolve(message.address);
        if (message.kind === "failed") reject(new FatalError("config", message.detail));
      });
    });
    return { thread, address };
  }

  /** Hands over a new snapshot at the end of this turn of the event loop, once for all changes in it. */
  publish(): void {
    if (this.#publishScheduled) return;
    this.#publishScheduled = true;
    setImmediate(() => {
      this.#publishScheduled = false;
      this.publishNow();
    });
  }

  publishNow(): void {
    this.#post({ kind: "snapshot", snapshot: this.#options.snapshot() });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#worker.terminate();
  }

  #receive(message: FromControl): void {
    if (message.kind === "call") void this.#answer(message.id, () => this.#callOnce(message.call));
    if (message.kind === "query") {
      void this.#answer(message.id, () => Promise.resolve(this.#options.query(message.query)));
    }
  }

  #callOnce(call: ReplicaCall): Promise<unknown> {
    return this.#memory.once(`${call.name} ${call.args.opId}`, () => this.#options.call(call));
  }

  async #answer(id: number, carryOut: () => Promise<unknown>): Promise<void> {
    const answer = await answerOf(carryOut);
    // Whoever reads the status after the answer must find what the answer says.
    this.publishNow();
    this.#post({ kind: "answer", id, answer });
  }

  #post(message: ToControl): void {
    if (!this.#stopping) this.#worker.postMessage(message);
  }

  #fail(detail: string): void {
    // An engine that cannot be fenced must not go on.
    if (!this.#stopping) this.#options.onFailure(new FatalError("io", detail));
  }
}

const answerOf = async (carryOut: () => Promise<unknown>): Promise<Answer> => {
  try {
    return { ok: true, body: await carryOut() };
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal("INTERNAL", messageOf(error));
    return { ok: false, problem: problemOf(refusal) };
  }
};
