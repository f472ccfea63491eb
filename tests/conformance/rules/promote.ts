import type { Rule } from "../rule.ts";
import { done, must, notAcknowledged, refused } from "../violation.ts";

export const promoteRules: readonly Rule[] = [
  {
    id: "promote-behind-refused",
    title: "A replica that holds less than minPosition is not promoted",
    prevents: "the new primary lacks acknowledged orders",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      for (const clientId of ["one", "two", "three"]) done("an order", await primary.bid(clientId));
      const { durable } = done("fence", await standby.fence(2));
      const held = durable as { epoch: number; seq: number };
      const further = { epoch: held.epoch, seq: held.seq + 1 };
      const behind = await standby.promote(3, [primary], { minPosition: further });
      refused(`promote of a replica at ${held.seq} with minPosition ${further.seq}`, behind, "BEHIND");
      const newer = { epoch: held.epoch + 1, seq: 1 };
      const older = await standby.promote(4, [primary], { minPosition: newer });
      refused("promote with a minPosition of a later epoch", older, "BEHIND");
      const { role } = await standby.status();
      must(role !== "primary", `role ${role} after BEHIND`, "not primary");
      done("promote with the position that it holds", await standby.promote(5, [primary], { minPosition: held }));
      return `at ${held.epoch}/${held.seq}: 412 BEHIND for one record more and for a later epoch`;
    },
  },
  {
    id: "epoch-leads-once",
    title: "An epoch has one primary, once",
    prevents: "two histories of one epoch, which nobody can tell apart",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      refused("promote of a follower in its primary's epoch", await standby.promote(1, [primary]), "WRONG_STATE");
      refused("promote of the primary in its own epoch", await primary.promote(1, [standby]), "WRONG_STATE");
      await Promise.all([primary.kill(), standby.kill()]);
      const again = await lab.start("te-0");
      refused("promote in an epoch led before a restart", await again.promote(1, [standby]), "WRONG_STATE");
      return "409 WRONG_STATE for the follower, for the primary, and after a restart";
    },
  },
  {
    id: "nothing-before-epoch-start",
    title:
      "A new primary acknowledges nothing, and is not the primary for probes, until its epoch's first record is committed",
    prevents: "orders are acknowledged on top of a history that another election can still cut",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      done("promote", await primary.promote(1, [standby]));
      notAcknowledged("an order before any standby follows", [await primary.bid("early")]);
      const probe = await primary.get("/v1/primary");
      must(probe.status === 503, `GET /v1/primary: ${probe.status}`, "GET /v1/primary: 503");
      done("follow", await standby.follow(1, primary));
      await primary.accepting();
      const [first] = await primary.journal();
      const begins = first?.type === "epochStart" && first.epoch === 1 && first.seq === 1;
      must(begins, `first record ${JSON.stringify(first)}`, "the first record of an epoch is its epochStart");
      done("an order", await primary.bid("late"));
      return "no acknowledgement and 503 from /v1/primary until a standby held record 1, an epochStart";
    },
  },
  {
    id: "resume-cancel-only",
    title: "A primary that resumes with cancelOnly takes cancellations and no new orders until it is opened",
    prevents: "traders are run over before they can take back what they left in the book",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      done("an order", await primary.bid("resting"));
      const { durable } = done("fence", await primary.fence(2));
      const body = { resume: "cancelOnly", minPosition: durable };
      done("promote with cancelOnly", await primary.promote(3, [standby], body));
      done("follow", await standby.follow(3, primary));
      await primary.accepting();
      const refusedOrder = await primary.bid("new");
      const told = `${refusedOrder.status} ${String(refusedOrder.body["code"])}`;
      must(told === "503 CANCEL_ONLY", `a new order: ${told}`, "a new order: 503 CANCEL_ONLY");
      done("a cancellation", await primary.cancel("resting"));
      done("undrain", await primary.call("undrain", 3));
      done("a new order after undrain", await primary.bid("new"));
      return "new order 503 CANCEL_ONLY, cancellation 200, after undrain 200";
    },
  },
];
