import { setTimeout as sleep } from "node:timers/promises";

import type { Position } from "../../../api/contract/v1.ts";
import { describeAnswer } from "../ask.ts";
import { highestSeq, startLoad, untilAcked } from "../load.ts";
import type { Rule } from "../rule.ts";
import { done, must, notAcknowledged, refused } from "../violation.ts";

export const plannedRules: readonly Rule[] = [
  {
    id: "demote-tells-final-position",
    title: "A demoted primary answers the position of the last record there will be of its epoch",
    prevents: "a planned switch promotes a standby that lacks the last acknowledged orders",
    async check(lab) {
      const [old, next, third] = await lab.trio();
      const load = startLoad(old);
      await untilAcked(load, 50);
      const final = done("demote", await old.demote(1))["final"] as Position;
      const acked = highestSeq(await load.stop());
      must(final.seq >= acked, `final ${final.seq}, acknowledged ${acked}`, "final >= acknowledged");
      const { durable, role } = await old.status();
      must(role === "standby", `role ${role}`, "role standby");
      must(durable.seq === final.seq, `durable ${durable.seq}`, `durable ${final.seq}, the final position`);
      const after = await old.bid("after");
      must(after.status === 421, `an order after it: ${describeAnswer(after)}`, "421");
      await next.until("te-1 holds the final position", (status) => status.durable.seq >= final.seq);
      await lab.elect(2, [next, third], { minPosition: final, members: [old, third] });
      done("the old primary follows", await old.follow(2, next));
      done("an order", await next.bid("switched"));
      return `final ${final.epoch}/${final.seq}, last acknowledged ${acked}; te-1 promoted with it`;
    },
  },
  {
    id: "demote-gives-up-in-time",
    title: "A demotion that cannot commit the tail in time is refused, and the primary goes on",
    prevents: "a planned switch that fails half-way stops trading for good",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      await standby.signal("SIGSTOP");
      const waiting = primary.bid("waiting");
      await sleep(200);
      const { watermarks } = await primary.status();
      const answer = await primary.demote(1, 500);
      if (watermarks.received > watermarks.committed) {
        refused("demote with a tail that nobody confirms", answer, "TIMEOUT");
        const { role } = await primary.status();
        must(role === "primary", `role ${role}`, "role primary");
      }
      await standby.signal("SIGCONT");
      await waiting;
      if (answer.status === 200) return "no tail was left to commit";
      await primary.accepting();
      done("an order afterwards", await primary.bid("afterwards"));
      return "504 TIMEOUT, still primary, orders are taken again";
    },
  },
  {
    id: "drain-and-undo",
    title: "A drained primary refuses new orders before sequencing them, and takes them again when that is undone",
    prevents: "orders in flight are lost in a planned stop",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      done("an order", await primary.bid("resting"));
      done("drain", await primary.call("drain", 1, { mode: "reject", deadlineMs: 1_000 }));
      const rejected = await primary.bid("rejected");
      must(rejected.status === 503, `an order: ${describeAnswer(rejected)}`, "503");
      const ready = await primary.get("/readyz");
      must(ready.status === 503, `GET /readyz: ${ready.status}`, "GET /readyz: 503");
      done("drain with cancelOnly", await primary.call("drain", 1, { mode: "cancelOnly", deadlineMs: 1_000 }));
      const limited = await primary.bid("limited");
      const told = `${limited.status} ${String(limited.body["code"])}`;
      must(told === "503 CANCEL_ONLY", `an order: ${told}`, "503 CANCEL_ONLY");
      done("a cancellation", await primary.cancel("resting"));
      done("undrain", await primary.call("undrain", 1));
      const after = done("an order", await primary.bid("rejected"));
      must(after["duplicate"] === false, "the refused order was placed", "the refused order was not placed");
      refused(
        "drain of a standby",
        await standby.call("drain", 1, { mode: "reject", deadlineMs: 1_000 }),
        "WRONG_STATE",
      );
      return "reject: 503; cancelOnly: 503 CANCEL_ONLY, cancellations go; undone: orders go; a standby: WRONG_STATE";
    },
  },
  {
    id: "members-change",
    title:
      "A change of the sync set holds from its answer on, and is answered only when all that is committed has the new copies",
    prevents: "an operator counts on copies that do not exist yet",
    async check(lab) {
      const [primary, second, third] = await lab.blankTrio();
      await lab.elect(1, [primary, second]);
      done("an order", await primary.bid("before"));
      refused("members = te-2, which holds nothing", await primary.members(1, 2, [third], 1), "TIMEOUT");
      done("te-2 follows", await third.follow(1, primary));
      done("members = te-1 te-2, k = 2", await primary.members(1, 3, [second, third], 2));
      const { sync } = await primary.status();
      must(sync?.k === 2 && sync.version === 3, `sync ${JSON.stringify(sync)}`, "sync k 2, version 3");
      refused("an older version", await primary.members(1, 1, [second], 1), "WRONG_STATE");
      refused("members at a standby", await second.members(1, 4, [third], 1), "WRONG_STATE");
      await primary.accepting();
      done("an order with both", await primary.bid("both"));
      await third.signal("SIGSTOP");
      notAcknowledged("an order while te-2 stands still", [await primary.bid("one-of-two")]);
      done("members = te-1, k = 1", await primary.members(1, 5, [second], 1));
      await primary.accepting();
      done("an order without te-2", await primary.bid("without"));
      return "504 TIMEOUT without the copies; k = 2 holds at once; older version WRONG_STATE; back to k = 1";
    },
  },
  {
    id: "calls-need-their-role",
    title: "Calls for a primary are refused by a replica that does not lead that epoch",
    prevents: "an operator that mixes up two pods stops the wrong one",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      refused("demote of a standby", await standby.demote(1), "WRONG_STATE");
      refused("undrain of a standby", await standby.call("undrain", 1), "WRONG_STATE");
      refused("follow at the primary of that epoch", await primary.follow(1, standby), "WRONG_STATE");
      refused("demote with an epoch that nobody leads", await primary.demote(2), "WRONG_STATE");
      done("an order", await primary.bid("still-trading"));
      return "409 WRONG_STATE from 4 calls, and the primary goes on";
    },
  },
];
