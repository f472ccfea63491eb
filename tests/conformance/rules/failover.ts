import type { Position } from "../../../api/contract/v1.ts";
import { comparePositions } from "../../../api/contract/v1.ts";
import type { Engine } from "../engine.ts";
import type { Lab } from "../lab.ts";
import { type Ack, startLoad, untilAcked } from "../load.ts";
import type { Rule } from "../rule.ts";
import { done, must } from "../violation.ts";

/** Fences `candidates` and makes the one with the highest position lead `epoch`, as an operator does. */
export const failOver = async (
  lab: Lab,
  epoch: number,
  candidates: readonly Engine[],
  members: readonly Engine[],
): Promise<Engine> => {
  const fenced: { engine: Engine; durable: Position }[] = [];
  for (const engine of candidates) {
    const answer = done(`fence ${engine.instance}`, await engine.fence(epoch));
    fenced.push({ engine, durable: answer["durable"] as Position });
  }
  const [best, ...others] = fenced.toSorted((a, b) => comparePositions(b.durable, a.durable));
  if (best === undefined) throw new Error("a failover needs a candidate");
  const standbys = others.map(({ engine }) => engine);
  const rest = members.filter(({ instance }) => instance !== best.engine.instance);
  await lab.elect(epoch, [best.engine, ...standbys], { minPosition: best.durable, members: rest });
  return best.engine;
};

/** Every acknowledged order is in the journal of `engine`, at the place that its client was told, and once. */
export const mustHoldAll = async (engine: Engine, acks: readonly Ack[]): Promise<void> => {
  const places = new Map<string, number[]>();
  for (const { clientId, seq, type } of await engine.journal()) {
    if (clientId !== undefined && type === "order") places.set(clientId, [...(places.get(clientId) ?? []), seq]);
  }
  for (const { clientId, seq } of acks) {
    const found = places.get(clientId) ?? [];
    must(
      found.length === 1 && found[0] === seq,
      `${clientId}: acknowledged as ${seq}, in the journal at [${found.join(" ")}]`,
      "every acknowledged order in the journal, once, where its client was told",
    );
  }
};

/** The same order again gets the first answer. */
const mustRepeat = async (engine: Engine, acks: readonly Ack[]): Promise<void> => {
  for (const { clientId, epoch, seq, orderId } of acks.slice(0, 20)) {
    const again = done(`${clientId} sent again`, await engine.bid(clientId));
    const same =
      again["epoch"] === epoch && again["seq"] === seq && again["orderId"] === orderId && again["duplicate"] === true;
    must(
      same,
      `${clientId} sent again: ${JSON.stringify(again)}`,
      `epoch ${epoch}, seq ${seq}, orderId ${orderId}, duplicate true`,
    );
  }
};

export const failoverRules: readonly Rule[] = [
  {
    id: "acked-survives-failover",
    title: "Every acknowledged order survives the death of the primary, and is known by its client id",
    prevents: "an acknowledged order is lost or placed twice by a failover",
    async check(lab) {
      const [primary, second, third] = await lab.trio();
      const load = startLoad(primary);
      await untilAcked(load, 100);
      await primary.kill();
      const acks = await load.stop();
      must(acks.length > 0, "no order was acknowledged", "orders are acknowledged");
      const winner = await failOver(lab, 2, [second, third], [primary, second, third]);
      await mustHoldAll(winner, acks);
      await mustRepeat(winner, acks);
      return `${acks.length} acknowledged orders, primary killed: all there; 20 sent again: the first answers`;
    },
  },
  {
    id: "acked-survives-restart",
    title: "Every acknowledged order survives the death of all replicas at once",
    prevents: "a power cut or a kernel upgrade loses the book",
    async check(lab) {
      const trio = await lab.trio();
      const load = startLoad(trio[0]);
      await untilAcked(load, 100);
      await Promise.all(trio.map((engine) => engine.kill()));
      const acks = await load.stop();
      must(acks.length > 0, "no order was acknowledged", "orders are acknowledged");
      const again = await lab.blankTrio();
      const winner = await failOver(lab, 2, again, again);
      await mustHoldAll(winner, acks);
      await mustRepeat(winner, acks);
      return `${acks.length} acknowledged orders, all three killed: all there; 20 sent again: the first answers`;
    },
  },
  {
    id: "trades-are-repeated",
    title: "The trades of an order keep their ids and amounts over failover, and add up",
    prevents: "a trade is booked twice because it comes back under another id",
    async check(lab) {
      const [primary, second, third] = await lab.trio();
      const ask = { side: "sell", price: "100.00", quantity: "0.3" };
      for (const clientId of ["ask-1", "ask-2", "ask-3"]) done("an ask", await primary.order({ clientId, ...ask }));
      const taker = { clientId: "taker", side: "buy", price: "100.00", quantity: "0.8" };
      const first = done("an order that trades", await primary.order(taker));
      const trades = first["trades"] as { tradeId: string; quantity: string }[];
      must(trades.length === 3, `${trades.length} trades`, "three trades, one with each ask");
      must(new Set(trades.map(({ tradeId }) => tradeId)).size === 3, JSON.stringify(trades), "different trade ids");
      const sum = trades.reduce((total, { quantity }) => total + Number(quantity), 0);
      must(Math.abs(sum - 0.8) < 1e-9, `trades of ${sum}`, "trades of 0.8 in all");
      must(Number(first["filledQuantity"]) === 0.8, `filledQuantity ${String(first["filledQuantity"])}`, "0.8");
      await primary.kill();
      const winner = await failOver(lab, 2, [second, third], [primary, second, third]);
      for (const again of [done("GET", await winner.find("taker")), done("again", await winner.order(taker))]) {
        const same = JSON.stringify(again["trades"]) === JSON.stringify(trades);
        must(same, `trades after failover ${JSON.stringify(again["trades"])}`, `trades ${JSON.stringify(trades)}`);
      }
      return `trade ids ${trades.map(({ tradeId }) => tradeId).join(" ")} before and after, 0.8 in all`;
    },
  },
];
