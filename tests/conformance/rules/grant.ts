import { setTimeout as sleep } from "node:timers/promises";

import type { Rule } from "../rule.ts";
import { done, must, notAcknowledged, refused } from "../violation.ts";

const ttlMs = 2_000;

export const grantRules: readonly Rule[] = [
  {
    id: "k-0-needs-a-grant",
    title: "With k = 0 a primary acknowledges only while it has a grant",
    prevents: "an isolated primary, whom no standby can refuse, goes on beside a new one",
    needs: ["grant"],
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      done("promote with k = 0", await primary.promote(1, [standby], { k: 0 }));
      done("follow", await standby.follow(1, primary));
      notAcknowledged("an order without a grant", [await primary.bid("early")]);
      refused("a grant to a standby", await standby.grant(1, ttlMs), "WRONG_STATE");
      done("a grant", await primary.grant(1, ttlMs));
      await primary.accepting();
      done("an order with a grant", await primary.bid("granted"));
      await sleep(ttlMs + 100);
      notAcknowledged("an order after its end", [await primary.bid("late")]);
      const probe = await primary.get("/v1/primary");
      must(probe.status === 503, `GET /v1/primary after its end: ${probe.status}`, "503");
      done("another grant", await primary.grant(1, 60_000));
      await primary.accepting();
      done("an order with another grant", await primary.bid("again"));
      done("fence", await primary.fence(2));
      refused("a grant for an old epoch", await primary.grant(1, ttlMs), "STALE_EPOCH");
      notAcknowledged("an order after a fence within the grant", [await primary.bid("fenced")]);
      return "nothing before a grant, after its end and after a fence; standby WRONG_STATE, old epoch STALE_EPOCH";
    },
  },
];
