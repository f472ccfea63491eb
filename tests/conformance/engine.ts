import { setTimeout as sleep } from "node:timers/promises";

import {
  type EngineStatus,
  engineStatus,
  type JournalLine,
  journalLine,
  type Position,
} from "../../api/contract/v1.ts";
import { type Answer, ask, describeAnswer } from "./ask.ts";
import { type EngineRun, kitToken, type Signal } from "./hosts/engineHost.ts";
import { done, Violation } from "./violation.ts";

export const kitCluster = "trading/conformance";

/** A decimal order; every order of the kit is whole in ticks and lots of `kitConfig`. */
export interface LimitOrder {
  readonly clientId: string;
  readonly side: "buy" | "sell";
  readonly price: string;
  readonly quantity: string;
}

/** A mutating call of the control API. */
export const mutatingCalls = {
  fence: { method: "POST", path: "/v1/fence" },
  promote: { method: "POST", path: "/v1/promote" },
  follow: { method: "POST", path: "/v1/follow" },
  demote: { method: "POST", path: "/v1/demote" },
  members: { method: "PUT", path: "/v1/members" },
  drain: { method: "POST", path: "/v1/drain" },
  undrain: { method: "DELETE", path: "/v1/drain" },
} as const;

export type MutatingCall = keyof typeof mutatingCalls;

const origin: Position = { epoch: 0, seq: 0 };
let operations = 0;

/** What the kit says to one running engine, and does to its process. */
export class Engine {
  readonly instance: string;
  readonly run: EngineRun;

  constructor(instance: string, run: EngineRun) {
    this.instance = instance;
    this.run = run;
  }

  /** A mutating call with a fresh operation id, unless `body` brings one. */
  call(name: MutatingCall, epoch: number, body: object = {}): Promise<Answer> {
    operations += 1;
    const identity = { clusterUid: kitCluster, epoch, opId: `kit-${operations}` };
    return this.send(name, { ...identity, ...body });
  }

  /** A mutating call with exactly this body. */
  send(name: MutatingCall, body: object | string, token: string | undefined = kitToken): Promise<Answer> {
    return ask({ ...mutatingCalls[name], address: this.run.addresses.control, body, token });
  }

  fence(epoch: number, body: object = {}): Promise<Answer> {
    return this.call("fence", epoch, body);
  }

  promote(epoch: number, members: readonly Engine[], body: object = {}): Promise<Answer> {
    const instances = members.map(({ instance }) => instance);
    return this.call("promote", epoch, { minPosition: origin, members: instances, k: 1, resume: "open", ...body });
  }

  follow(epoch: number, primary: Engine, body: object = {}): Promise<Answer> {
    return this.call("follow", epoch, { upstream: upstreamOf(primary), ...body });
  }

  demote(epoch: number, deadlineMs = 5_000): Promise<Answer> {
    return this.call("demote", epoch, { deadlineMs });
  }

  /** Permission to acknowledge for `ttlMs`, which a primary with k = 0 needs. */
  grant(epoch: number, ttlMs: number): Promise<Answer> {
    operations += 1;
    const body = { clusterUid: kitCluster, epoch, opId: `kit-${operations}`, ttlMs };
    return ask({ method: "POST", address: this.run.addresses.control, path: "/v1/grant", body, token: kitToken });
  }

  members(epoch: number, version: number, members: readonly Engine[], k: number): Promise<Answer> {
    return this.call("members", epoch, { version, members: members.map(({ instance }) => instance), k });
  }

  get(path: string, token: string | undefined = kitToken): Promise<Answer> {
    return ask({ method: "GET", address: this.run.addresses.control, path, token });
  }

  async status(): Promise<EngineStatus> {
    const body = done(`status of ${this.instance}`, await this.get("/v1/status"));
    const parsed = engineStatus.safeParse(body);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    throw new Violation(
      `status of ${this.instance}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`,
      "every field of a status, with its type",
    );
  }

  /** Polls the status until `holds`; a {@link Violation} says `mustBe` when that takes too long. */
  async until(mustBe: string, holds: (status: EngineStatus) => boolean, deadlineMs = 15_000): Promise<EngineStatus> {
    const end = performance.now() + deadlineMs;
    for (;;) {
      const status = await this.status();
      if (holds(status)) return status;
      if (performance.now() > end) throw new Violation(`${this.instance}: ${describeStatus(status)}`, mustBe);
      await sleep(10);
    }
  }

  /** Waits until it leads and takes orders. */
  accepting(): Promise<EngineStatus> {
    return this.until(`${this.instance} takes orders`, ({ role, ready }) => role === "primary" && ready);
  }

  /** Waits until everything up to `seq` is applied here. */
  applied(seq: number): Promise<EngineStatus> {
    return this.until(`${this.instance} has applied record ${seq}`, ({ watermarks }) => watermarks.applied >= seq);
  }

  order(order: LimitOrder | object | string): Promise<Answer> {
    const body = typeof order === "string" ? order : { type: "limit", ...order };
    return ask({ method: "POST", address: this.run.addresses.orders, path: "/v1/orders", body });
  }

  /** A limit buy of one unit; bids alone never trade. */
  bid(clientId: string): Promise<Answer> {
    return this.order({ clientId, side: "buy", price: "100.00", quantity: "1" });
  }

  find(clientId: string): Promise<Answer> {
    return ask({ method: "GET", address: this.run.addresses.orders, path: `/v1/orders/${clientId}` });
  }

  cancel(clientId: string): Promise<Answer> {
    return ask({ method: "DELETE", address: this.run.addresses.orders, path: `/v1/orders/${clientId}` });
  }

  /** State hash after record `seq`. */
  async hash(seq: number): Promise<string> {
    const { hash } = done(`hash of record ${seq} at ${this.instance}`, await this.get(`/v1/hash?seq=${seq}`));
    if (typeof hash === "string" && hash !== "") return hash;
    throw new Violation(`hash ${JSON.stringify(hash)}`, "a hash is a string");
  }

  async journal(fromSeq = 1): Promise<readonly JournalLine[]> {
    const answer = await this.get(`/v1/journal?fromSeq=${fromSeq}`);
    if (answer.status !== 200) throw new Violation(`journal: ${describeAnswer(answer)}`, "journal: 200");
    const lines = answer.text.split("\n").filter((line) => line !== "");
    return lines.map((line) => {
      const parsed = journalLine.safeParse(JSON.parse(line));
      if (parsed.success) return parsed.data;
      throw new Violation(`journal line ${line}`, "every line of the journal has epoch, seq and type");
    });
  }

  signal(signal: Signal): Promise<void> {
    return this.run.signal(signal);
  }

  /** Ends the process without a warning, and waits until it is gone. */
  async kill(): Promise<void> {
    await this.run.signal("SIGKILL");
    await this.run.exited;
  }
}

/** What a follower must know of `primary`. */
export const upstreamOf = ({ instance, run: { addresses } }: Engine): object => ({
  instance,
  replication: addresses.replication,
  orders: addresses.orders,
});

const describeStatus = ({ role, ready, readyReason, epoch, durable, watermarks }: EngineStatus): string =>
  `role ${role}, ${ready ? "ready" : `not ready (${readyReason})`}, epoch ${epoch.current}, promised ${epoch.promised}, ` +
  `durable ${durable.epoch}/${durable.seq}, committed ${watermarks.committed}, applied ${watermarks.applied}`;
