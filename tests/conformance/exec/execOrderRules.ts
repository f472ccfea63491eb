import { writeFile } from "node:fs/promises";

import type { Rule } from "../rule.ts";
import { must } from "../violation.ts";
import { describeOutcome, doneBy, type ExecLab, type ExecReplica, type Outcome, refusedWith } from "./execLab.ts";

interface Position {
  readonly epoch: number;
  readonly seq: number;
}

const notAcknowledged = (what: string, outcome: Outcome): void =>
  must(
    outcome.code !== 0,
    `${what}: ${describeOutcome(outcome)} ${outcome.stdout.trim()}`,
    `${what}: no acknowledgement`,
  );

const hashOf = async (replica: ExecReplica): Promise<string> => {
  const { lastHash } = await replica.status();
  const { seq, hash } = lastHash as { seq?: unknown; hash?: unknown };
  return `${String(seq)} ${String(hash)}`;
};

/** Rules about acknowledged orders, for an engine that has the command `place`; and snapshots, which need orders to hold. */
export const execOrderRules: readonly Rule<ExecLab>[] = [
  {
    id: "exec-no-ack-before-k-copies",
    title: "No order is acknowledged before TE_K standbys hold it",
    prevents: "the primary's disk dies, and with it orders that clients count on",
    needs: ["place"],
    async check(lab) {
      const [primary, standby] = [await lab.replica("te-0"), await lab.replica("te-1")];
      doneBy(await primary.promote(1));
      notAcknowledged("an order without a standby", await primary.place("early"));
      doneBy(await standby.follow(1, primary));
      const { seq } = doneBy(await primary.place("placed"));
      const { durable } = await standby.status();
      const held = (durable as Position).seq;
      must(held >= Number(seq), `standby holds ${held}, acknowledged ${String(seq)}`, "the standby holds it");
      notAcknowledged("an order at the standby", await standby.place("elsewhere"));
      return `nothing acknowledged alone; record ${String(seq)} acknowledged with a copy`;
    },
  },
  {
    id: "exec-fenced-is-silent",
    title: "A primary acknowledges nothing after a fence, of itself or of its standbys",
    prevents: "an order is acknowledged that the new primary never saw",
    needs: ["place"],
    async check(lab) {
      const [old, next, third] = await lab.elected(3);
      doneBy(await old.place("before"));
      doneBy(await next.fence(2));
      doneBy(await (third ?? next).fence(2));
      notAcknowledged("an order at an isolated primary", await old.place("unaware"));
      const { wasPrimary } = doneBy(await old.fence(2));
      must(wasPrimary === true, `wasPrimary ${String(wasPrimary)}`, "wasPrimary true");
      notAcknowledged("an order at a fenced primary", await old.place("after"));
      return "none acknowledged with fenced standbys, none after its own fence";
    },
  },
  {
    id: "exec-acked-survives-failover",
    title: "Every acknowledged order is with the new primary, once, and a cut tail is told",
    prevents: "an acknowledged order is lost or placed twice by a failover",
    needs: ["place"],
    async check(lab) {
      const [old, next, third] = await lab.elected(3);
      const acked = new Map<string, unknown>();
      for (let count = 0; count < 5; count += 1) {
        acked.set(`order-${count}`, doneBy(await old.place(`order-${count}`))["seq"]);
      }
      const { durable } = doneBy(await next.fence(2));
      doneBy(await (third ?? next).fence(2));
      notAcknowledged("an order that no standby takes", await old.place("tail"));
      const { epoch, seq } = durable as Position;
      doneBy(await next.promote(2, { TE_MIN_EPOCH: epoch, TE_MIN_SEQ: seq }));
      doneBy(await old.follow(2, next));
      doneBy(await (third ?? next).follow(2, next));
      for (const [clientId, place] of acked) {
        const again = doneBy(await next.place(clientId));
        const same = again["seq"] === place && again["duplicate"] === true;
        must(same, `${clientId} again: ${JSON.stringify(again)}`, `seq ${String(place)}, duplicate true`);
      }
      const other = await next.place("order-0", { TE_QUANTITY: 2 });
      refusedWith("another order under a known client id", other, "badCall");
      doneBy(await next.place("after"));
      const hashes = new Set([await hashOf(old), await hashOf(next)]);
      must(hashes.size === 1, `hashes ${[...hashes].join(" and ")}`, "one hash at one record");
      const { cutTails } = await old.status();
      must(cutTails === 1, `cutTails ${String(cutTails)}`, "cutTails 1: the order that nobody took");
      return `${acked.size} acknowledged orders known by the new primary, a tail of 1 record cut, one hash`;
    },
  },
  {
    id: "exec-demote-tells-final-position",
    title: "A demoted primary answers its last position and takes no more orders; one that cannot hand over goes on",
    prevents: "a planned switch promotes a standby that lacks the last acknowledged orders",
    needs: ["place"],
    async check(lab) {
      const [old, next] = await lab.elected(2);
      const { seq } = doneBy(await old.place("placed"));
      const { final } = doneBy(await old.run("demote", { TE_EPOCH: 1 }));
      const last = final as Position;
      must(last.seq >= Number(seq), `final ${last.seq}, acknowledged ${String(seq)}`, "final >= acknowledged");
      notAcknowledged("an order after it", await old.place("after"));
      doneBy(await next.promote(2, { TE_MIN_EPOCH: last.epoch, TE_MIN_SEQ: last.seq }));
      notAcknowledged("an order before anyone follows", await next.place("alone"));
      refusedWith("demote with a tail that nobody takes", await next.run("demote", { TE_EPOCH: 2 }), "retry");
      doneBy(await old.follow(2, next));
      doneBy(await next.place("alone"));
      return `final ${last.epoch}/${last.seq}; without a standby exit 75, and it goes on`;
    },
  },
  {
    id: "exec-drain-and-undo",
    title: "A drained primary takes no new orders until that is undone",
    prevents: "orders in flight are lost in a planned stop",
    needs: ["place"],
    async check(lab) {
      const [primary] = await lab.elected(2);
      for (const mode of ["reject", "cancelOnly"]) {
        doneBy(await primary.run("drain", { TE_EPOCH: 1, TE_MODE: mode }));
        notAcknowledged(`an order while ${mode}`, await primary.place("drained"));
      }
      doneBy(await primary.run("drain", { TE_EPOCH: 1, TE_MODE: "open" }));
      const { duplicate } = doneBy(await primary.place("drained"));
      must(duplicate === false, "the refused order was placed", "the refused order was not placed");
      return "nothing taken while reject and cancelOnly, taken again when open";
    },
  },
  {
    id: "exec-snapshot-restores",
    title: "A snapshot restores to the same state in a new engine, and a damaged one is refused",
    prevents: "a backup that is found out to be none on the day it is needed",
    needs: ["place"],
    async check(lab) {
      const [primary, standby] = await lab.elected(2);
      for (const clientId of ["one", "two"]) doneBy(await primary.place(clientId));
      const path = lab.file("snapshot");
      const { seq, hash, sha256 } = doneBy(await standby.run("snapshot", { TE_EPOCH: 1, TE_SNAPSHOT: path }));
      const facts = { TE_CLUSTER_UID: "trading/restored", TE_SNAPSHOT: path, TE_SNAPSHOT_SHA256: String(sha256) };
      const restored = await lab.replica("re-0");
      const { durable, hash: again } = doneBy(await restored.run("restore", facts));
      const told = `record ${(durable as Position).seq} hash ${String(again)}`;
      must(told === `record ${String(seq)} hash ${String(hash)}`, told, `record ${String(seq)} hash ${String(hash)}`);
      refusedWith("restore over history", await restored.run("restore", facts), "wrongState");
      const owner = { TE_CLUSTER_UID: "trading/restored", TE_EPOCH: 1 };
      doneBy(await restored.fence(1, owner));
      refusedWith("a fence for the old engine", await restored.fence(2), "foreign");
      await writeFile(path, "damaged\n");
      const damaged = await (await lab.replica("re-1")).run("restore", facts);
      must(
        damaged.code !== 0 && damaged.code !== 75,
        describeOutcome(damaged),
        "a damaged snapshot is refused for good",
      );
      return `record ${String(seq)} with the same hash; over history exit 5; the old engine exit 77; damaged exit ${String(damaged.code)}`;
    },
  },
];
