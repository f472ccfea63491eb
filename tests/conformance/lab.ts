import { setTimeout as sleep } from "node:timers/promises";

import type { Position } from "../../api/contract/v1.ts";
import { ask } from "./ask.ts";
import { Engine, kitCluster } from "./engine.ts";
import type { EngineHost, EnginePlace, EngineRun, Settings } from "./hosts/engineHost.ts";
import { done, Violation } from "./violation.ts";

/** Long enough for a container on a busy node. */
const startDeadlineMs = 60_000;

/** The first leads, the others follow it. */
export type Trio = readonly [Engine, Engine, Engine];

/** What one rule experiments with: engines with data of their own, all gone when the rule has been looked at. */
export class Lab {
  readonly #host: EngineHost;
  readonly #name: string;
  readonly #places = new Map<string, EnginePlace>();

  /** `name` is unique within the host. */
  constructor(host: EngineHost, name: string) {
    this.#host = host;
    this.#name = name;
  }

  /** Starts a process without waiting for it to answer. It finds what an earlier one of this instance left. */
  async launch(instance: string, settings: Partial<Settings> = {}): Promise<EngineRun> {
    const place = await this.#place(instance);
    return place.start({ clusterUid: kitCluster, instance, env: {}, ...settings });
  }

  /** Starts a process and waits until it has read its data. */
  async start(instance: string, settings: Partial<Settings> = {}): Promise<Engine> {
    const run = await this.launch(instance, settings);
    await untilStarted(instance, run);
    return new Engine(instance, run);
  }

  /** Exit code of a process that must not stay up. */
  async exitOf(instance: string, settings: Partial<Settings> = {}): Promise<number | null | "running"> {
    const run = await this.launch(instance, settings);
    return Promise.race([run.exited, sleep(exitDeadlineMs, "running" as const, { ref: false })]);
  }

  async damageJournal(instance: string): Promise<void> {
    await (await this.#place(instance)).damageJournal();
  }

  /** Three engines, started and blank. */
  async blankTrio(): Promise<Trio> {
    return Promise.all([this.start("te-0"), this.start("te-1"), this.start("te-2")] as const);
  }

  /** Three engines of which te-0 leads epoch 1 with k standby copies, and takes orders. */
  async trio(k = 1): Promise<Trio> {
    const trio = await this.blankTrio();
    await this.elect(1, trio, { k });
    return trio;
  }

  /** Makes the first lead `epoch`, the others follow it, and waits until it takes orders. */
  async elect(
    epoch: number,
    [primary, ...standbys]: readonly [Engine, ...Engine[]],
    changes: { k?: number; minPosition?: Position; members?: readonly Engine[] } = {},
  ): Promise<void> {
    const { members = standbys, ...body } = changes;
    done(`promote ${primary.instance} to epoch ${epoch}`, await primary.promote(epoch, members, body));
    for (const standby of standbys) {
      done(`${standby.instance} follows ${primary.instance}`, await standby.follow(epoch, primary));
    }
    await primary.accepting();
  }

  /** Ends what runs and removes its data. */
  async close(): Promise<void> {
    await Promise.all([...this.#places.values()].map((place) => place.remove()));
  }

  async #place(instance: string): Promise<EnginePlace> {
    const known = this.#places.get(instance);
    if (known !== undefined) return known;
    const place = await this.#host.makePlace(`${this.#name}-${instance}`);
    this.#places.set(instance, place);
    return place;
  }
}

const exitDeadlineMs = 30_000;

const untilStarted = async (instance: string, run: EngineRun): Promise<void> => {
  let exit: number | null | undefined;
  void run.exited.then((code) => {
    exit = code;
  });
  const end = performance.now() + startDeadlineMs;
  for (;;) {
    const answer = await ask({ method: "GET", address: run.addresses.control, path: "/startupz", deadlineMs: 2_000 });
    if (answer.status === 200) return;
    if (exit !== undefined || performance.now() > end) break;
    await sleep(20);
  }
  const ended = exit === undefined ? `no 200 from /startupz in ${startDeadlineMs / 1000} s` : `exit code ${exit}`;
  throw new Violation(`${instance}: ${ended}; last output: ${(await run.output()).trim()}`, "the engine starts");
};
