import { highestSeq, startLoad, untilAcked } from "../load.ts";
import type { Rule } from "../rule.ts";
import { done, must, NotApplicable } from "../violation.ts";

export const followRules: readonly Rule[] = [
  {
    id: "replicas-have-one-state",
    title: "All replicas have the same state hash at the same record",
    prevents: "a failover changes the book: replicas that drifted apart unnoticed",
    async check(lab) {
      const trio = await lab.trio();
      const [primary] = trio;
      const load = startLoad(primary, 4);
      await untilAcked(load, 40);
      const last = highestSeq(await load.stop());
      const sell = { clientId: "sell", side: "sell", price: "100.00", quantity: "2.5" };
      done("an order that trades", await primary.order(sell));
      done("a cancellation", await primary.cancel(load.acks.at(-1)?.clientId ?? ""));
      const end = last + 2;
      for (const engine of trio) await engine.applied(end);
      const seen: string[] = [];
      for (const seq of [2, Math.ceil(end / 2), end - 1, end]) {
        const hashes = await Promise.all(trio.map((engine) => engine.hash(seq)));
        must(new Set(hashes).size === 1, `at record ${seq}: ${hashes.join(" ")}`, "one hash");
        seen.push(hashes[0] ?? "");
      }
      must(new Set(seen).size === seen.length, `hashes ${seen.join(" ")}`, "another hash after another record");
      return `one hash on three replicas at 4 of ${end} records`;
    },
  },
  {
    id: "late-standby-catches-up",
    title: "A standby that comes late, or comes back, gets the whole history",
    prevents: "redundancy that is counted and is not there",
    async check(lab) {
      const [primary, second, third] = await lab.blankTrio();
      await lab.elect(1, [primary, second], { members: [second, third] });
      const load = startLoad(primary);
      await untilAcked(load, 100);
      const late = await third.status();
      must(late.blank, "te-2 holds history before it follows", "te-2 is blank");
      done("te-2 follows", await third.follow(1, primary));
      await second.kill();
      await untilAcked(load, load.acks.length + 50);
      const back = await lab.start("te-1");
      done("te-1 follows again", await back.follow(1, primary));
      const end = highestSeq(await load.stop());
      for (const engine of [third, back]) await engine.applied(end);
      const hashes = await Promise.all([primary, third, back].map((engine) => engine.hash(end)));
      must(new Set(hashes).size === 1, `at record ${end}: ${hashes.join(" ")}`, "one hash");
      return `a blank standby and one that was killed both hold all ${end} records`;
    },
  },
  {
    id: "tail-is-cut-and-told",
    title: "A replica cuts what the new primary never had, keeps it aside, and says so",
    prevents: "orders that were never acknowledged come back to life, or vanish without a trace",
    async check(lab) {
      const [old, second, third] = await lab.trio();
      done("an order before", await old.bid("before"));
      await Promise.all([second, third].map((engine) => engine.applied(2)));
      await Promise.all([second, third].map((engine) => engine.signal("SIGSTOP")));
      await Promise.all(["a", "b", "c"].map((id) => old.bid(`tail-${id}`)));
      const { durable } = await old.status();
      if (durable.seq <= 2) throw new NotApplicable("the engine sequences nothing while its standbys are silent");
      // Killed while stopped: what waits in their sockets never reaches them.
      await Promise.all([old, second, third].map((engine) => engine.kill()));
      const [next, other] = await Promise.all([lab.start("te-1"), lab.start("te-2")]);
      await lab.elect(2, [next, other]);
      done("an order after", await next.bid("after"));
      const back = await lab.start("te-0");
      done("the old primary follows", await back.follow(2, next));
      const end = (await next.status()).watermarks.committed;
      const status = await back.applied(end);
      const tail = (await back.journal()).filter(({ clientId }) => clientId?.startsWith("tail-"));
      must(tail.length === 0, `${tail.length} records of the tail are left`, "nothing of the tail in the history");
      must(status.journal.cutTails === 1, `journal.cutTails ${status.journal.cutTails}`, "journal.cutTails 1");
      const hashes = await Promise.all([next, back].map((engine) => engine.hash(end)));
      must(new Set(hashes).size === 1, `at record ${end}: ${hashes.join(" ")}`, "one hash");
      return `a tail of ${durable.seq - 2} records was cut, cutTails 1, and the hash is the new primary's`;
    },
  },
];
