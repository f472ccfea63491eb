import type { PlaceOrder } from "../../journal/record.ts";
import { ask, type OrderDesk, type OrderOutcome, type Question } from "../../replica/orderDesk.ts";
import type { Answer } from "../invariants/history.ts";
import { cancelOf, limitOrder } from "../records.ts";
import { testRules } from "../testReplica.ts";
import type { SimulatedCluster } from "./simulatedCluster.ts";
import type { SimulatedMachine } from "./simulatedMachine.ts";

const answerDeadlineMs = 60;
const attempts = 4;

/**
 * Someone who trades: places orders, sends them again when no answer comes, cancels and asks, of whatever
 * replica it takes for the primary. Every answer is written down when the primary gives it, whether it arrives or not.
 */
export class SimulatedClient {
  readonly #cluster: SimulatedCluster;
  readonly #name: string;
  readonly #orders: PlaceOrder[] = [];
  #primary: SimulatedMachine;
  #stopped = false;

  constructor(cluster: SimulatedCluster, name: string) {
    this.#cluster = cluster;
    this.#name = name;
    this.#primary = cluster.random.pick(cluster.machines);
  }

  async run(): Promise<void> {
    const { random, scheduler } = this.#cluster;
    while (!this.#stopped) {
      await this.#act(random.next());
      await scheduler.sleep(random.between(0.2, 8));
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  async #act(choice: number): Promise<void> {
    const earlier = this.#orders.length === 0 ? null : this.#cluster.random.pick(this.#orders);
    if (earlier === null || choice < 0.4) return this.#insist(this.#newOrder());
    if (choice < 0.6) return this.#burst(this.#cluster.random.integer(2, 12));
    if (choice < 0.7) return this.#insist(earlier);
    if (choice < 0.85) {
      await this.#ask((desk, question) => desk.cancel(cancelOf(earlier.clientId), question), earlier.clientId);
      return;
    }
    await this.#ask((desk, question) => desk.find(earlier, question), earlier.clientId, "recalled");
  }

  /** Many orders in flight at once: what a primary that dies leaves uncommitted behind it. */
  async #burst(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#insist(this.#newOrder())));
  }

  #newOrder(): PlaceOrder {
    const { random } = this.#cluster;
    const isMarket = random.chance(0.15);
    const order = limitOrder(`${this.#name}-${this.#orders.length}`, {
      side: random.pick(["buy", "sell"] as const),
      type: isMarket ? "market" : "limit",
      price: isMarket ? 0 : random.integer(9_995, 10_005),
      quantity: random.integer(1, 6),
    });
    this.#orders.push(order);
    return order;
  }

  /** Sends an order until its outcome is known, or patience ends. */
  async #insist(order: PlaceOrder): Promise<void> {
    for (let attempt = 0; attempt < attempts && !this.#stopped; attempt += 1) {
      const outcome = await this.#ask((desk, question) => desk.place(order, testRules, question), order.clientId);
      if (outcome?.kind === "placed" || outcome?.kind === "clientIdReused") return;
      await this.#cluster.scheduler.sleep(this.#cluster.random.between(0.5, 10));
    }
  }

  /** Null when no answer came; then another replica is asked the next time. */
  async #ask(
    step: (desk: OrderDesk, question: Question) => void,
    clientId: string,
    placed: "placed" | "recalled" = "placed",
  ): Promise<OrderOutcome | null> {
    const { scheduler, random, machines, recorder } = this.#cluster;
    const machine = this.#primary;
    const sentAt = scheduler.now;
    const reply = await this.#cluster.request("clients", machine, answerDeadlineMs, async ({ replica }, isAlive) => {
      const { standing } = replica;
      if (!("desk" in standing)) return null;
      const outcome = await ask(scheduler.now, (question) => step(standing.desk, question));
      const answer = answerOf(outcome, placed, { instance: machine.name, term: standing.term.epoch, clientId, sentAt });
      if (answer !== null && isAlive()) recorder.answers.push({ ...answer, answeredAt: scheduler.now });
      return outcome;
    });
    const outcome = reply.kind === "answer" ? reply.value : null;
    if (outcome === null || outcome.kind === "cannotCommit") this.#primary = random.pick(machines);
    return outcome;
  }
}

/** Null when the outcome promises nothing. */
const answerOf = (
  outcome: OrderOutcome,
  placed: "placed" | "recalled",
  about: Pick<Answer, "instance" | "term" | "clientId" | "sentAt">,
): Omit<Answer, "answeredAt"> | null => {
  switch (outcome.kind) {
    case "placed":
      return { ...about, kind: placed, position: outcome.order.position, duplicate: outcome.duplicate };
    case "found":
      return { ...about, kind: "recalled", position: outcome.order.position, duplicate: true };
    case "cancelled": {
      const { finalEpoch: epoch, finalSeq: seq } = outcome.order;
      return { ...about, kind: "cancelled", position: { epoch, seq }, duplicate: outcome.duplicate };
    }
    case "notFound":
      return { ...about, kind: "absent", position: null, duplicate: false };
    case "clientIdReused":
    case "final":
    case "cannotCommit":
    case "cancelOnly":
    case "unknown":
      return null;
  }
};
