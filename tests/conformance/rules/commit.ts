import { setTimeout as sleep } from "node:timers/promises";

import { describeAnswer } from "../ask.ts";
import type { Engine } from "../engine.ts";
import { highestSeq, startLoad, untilAcked } from "../load.ts";
import type { Rule } from "../rule.ts";
import { done, must, NotApplicable, notAcknowledged } from "../violation.ts";

/** Records of a client id in a journal. */
const recordsOf = async (engine: Engine, clientId: string): Promise<number> =>
  (await engine.journal()).filter((line) => line.clientId === clientId && line.type === "order").length;

export const commitRules: readonly Rule[] = [
  {
    id: "no-ack-before-k-copies",
    title: "No order is acknowledged before k standbys hold it durably",
    prevents: "the primary's disk dies, and with it orders that clients count on",
    async check(lab) {
      const [primary, second, third] = await lab.blankTrio();
      done("promote with k = 2", await primary.promote(1, [second, third], { k: 2 }));
      done("te-1 follows", await second.follow(1, primary));
      await second.until("te-1 is connected", ({ upstream }) => upstream?.connected === true);
      notAcknowledged("an order with one of two copies", [await primary.bid("one-copy")]);
      done("te-2 follows", await third.follow(1, primary));
      await primary.accepting();
      done("an order with both standbys", await primary.bid("two-copies"));
      await third.signal("SIGSTOP");
      const waiting = await Promise.all(["a", "b", "c"].map((id) => primary.bid(`stopped-${id}`)));
      notAcknowledged("orders while te-2 stands still", waiting);
      await third.signal("SIGCONT");
      await primary.accepting();
      done("an order after te-2 went on", await primary.bid("after"));
      return "k = 2: nothing acknowledged with one standby, nor while the second stood still";
    },
  },
  {
    id: "acked-is-on-k-standbys",
    title: "Whatever was acknowledged is durable on k standbys at that moment",
    prevents: "the standbys hold less than the clients were told",
    async check(lab) {
      const [primary, ...standbys] = await lab.trio(2);
      const load = startLoad(primary);
      await untilAcked(load, 100);
      await Promise.all([primary, ...standbys].map((engine) => engine.kill()));
      const acked = highestSeq(await load.stop());
      must(acked > 0, "no order was acknowledged", "orders are acknowledged");
      for (const { instance } of standbys) {
        const { durable } = await (await lab.start(instance)).status();
        must(
          durable.seq >= acked,
          `${instance} durable ${durable.seq}, acknowledged ${acked}`,
          "durable >= acknowledged",
        );
      }
      return `all three killed under load at record ${acked}: both standbys hold it`;
    },
  },
  {
    id: "refused-means-not-done",
    title: "503 means that the order was not sequenced: it is not in the history, and may be sent again",
    prevents: "a client sends an order again that was placed already",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      done("promote", await primary.promote(1, [standby]));
      const early = await primary.bid("early");
      must(early.status === 503, `an order without a standby: ${describeAnswer(early)}`, "503");
      const code = String(early.body["code"]);
      must(code === "CANNOT_COMMIT", `code ${code}`, "code CANNOT_COMMIT");
      done("follow", await standby.follow(1, primary));
      await primary.accepting();
      const found = await primary.find("early");
      must(found.status === 404, `GET of it: ${describeAnswer(found)}`, "GET of it: 404");
      const again = done("the same order again", await primary.bid("early"));
      must(again["duplicate"] === false, `duplicate ${String(again["duplicate"])}`, "duplicate false");
      return "503 CANNOT_COMMIT, then 404, then placed as new";
    },
  },
  {
    id: "unknown-is-resolved",
    title:
      "A sequenced order that is not confirmed in time is UNKNOWN, and its client id tells later what became of it",
    prevents: "a client takes a placed order for a failed one, and trades twice",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      await standby.signal("SIGSTOP");
      const answer = await primary.bid("waiting");
      const told = `${answer.status} ${String(answer.body["code"])}`;
      const allowed = told === "504 UNKNOWN" || told === "503 CANNOT_COMMIT";
      must(allowed, `with a silent standby: ${describeAnswer(answer)}`, "504 UNKNOWN, or 503 CANNOT_COMMIT");
      await standby.signal("SIGCONT");
      await primary.accepting();
      await primary.applied((await primary.status()).watermarks.received);
      if (answer.status === 503) {
        const kept = await primary.find("waiting");
        must(kept.status === 404, `503, and then GET: ${describeAnswer(kept)}`, "404 for what was refused with 503");
        throw new NotApplicable("the engine sequenced nothing while its standby was silent");
      }
      const found = done("GET by client id", await primary.find("waiting"));
      const again = done("the same order again", await primary.bid("waiting"));
      const same = found["seq"] === again["seq"] && again["duplicate"] === true;
      must(same, `GET ${JSON.stringify(found)}, again ${JSON.stringify(again)}`, "one order, told as duplicate");
      const records = await recordsOf(primary, "waiting");
      must(records === 1, `${records} records`, "one record");
      return "504 UNKNOWN, then GET and the same order again tell one order, one record";
    },
  },
  {
    id: "watermarks-in-order",
    title: "Applied <= committed <= received and durable <= received, and none of them falls",
    prevents: "effects of orders are shown that a failover takes back",
    async check(lab) {
      const trio = await lab.trio();
      const load = startLoad(trio[0]);
      const last = new Map<string, number>();
      let samples = 0;
      const end = performance.now() + 1_500;
      while (performance.now() < end) {
        for (const engine of trio) {
          const { role, watermarks } = await engine.status();
          const { received, durable, committed, applied } = watermarks;
          const told = `${engine.instance} (${role}): received ${received}, durable ${durable}, committed ${committed}, applied ${applied}`;
          const ordered = applied <= committed && committed <= received && durable <= received;
          must(ordered, told, "applied <= committed <= received, durable <= received");
          must(role !== "primary" || committed <= durable, told, "a primary has durable what is committed");
          for (const [name, value] of Object.entries(watermarks)) {
            const key = `${engine.instance} ${name}`;
            const before = last.get(key) ?? 0;
            must(value >= before, `${key} fell from ${before} to ${value}`, "no watermark falls");
            last.set(key, value);
          }
          samples += 1;
        }
        await sleep(10);
      }
      const acks = await load.stop();
      must(acks.length > 0, "no order was acknowledged", "orders are acknowledged");
      return `${samples} samples on three replicas while ${acks.length} orders were acknowledged`;
    },
  },
];
