import { setTimeout as sleep } from "node:timers/promises";

import { type MutatingCall, mutatingCalls } from "../engine.ts";
import { highestSeq, startLoad, untilAcked } from "../load.ts";
import type { Rule } from "../rule.ts";
import { done, must, notAcknowledged, refused } from "../violation.ts";
import { completeBody } from "./access.ts";

const bids = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

export const fenceRules: readonly Rule[] = [
  {
    id: "promise-survives-kill",
    title: "What fence, promote and follow promised is remembered by the next process",
    prevents: "a replica forgets that it left an epoch, and acknowledges for the old primary",
    async check(lab) {
      const [a, b] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      done("fence", await a.fence(5));
      await a.kill();
      const fenced = await lab.start("te-0");
      refused("fence of epoch 4 after fence of 5 and KILL", await fenced.fence(4), "STALE_EPOCH");
      done("promote", await fenced.promote(7, [b]));
      done("follow", await b.follow(7, fenced));
      await Promise.all([fenced.kill(), b.kill()]);
      for (const instance of ["te-0", "te-1"]) {
        const engine = await lab.start(instance);
        const { epoch } = await engine.status();
        must(epoch.promised === 7, `${instance} after KILL: promised ${epoch.promised}`, "promised 7");
        refused(`${instance}: fence of epoch 6 after KILL`, await engine.fence(6), "STALE_EPOCH");
      }
      return "fence 5, promote 7 and follow 7: each kept over KILL, lower epochs refused with STALE_EPOCH";
    },
  },
  {
    id: "stale-epoch-refused",
    title: "Every call with an epoch below the promised one is refused and changes nothing",
    prevents: "a late call of an operator that has lost its Lease undoes a failover",
    async check(lab) {
      const engine = await lab.start("te-0");
      done("fence", await engine.fence(5));
      for (const name of Object.keys(mutatingCalls) as MutatingCall[]) {
        const { promised } = refused(
          `${name} with epoch 4 after a promise of 5`,
          await engine.send(name, { ...completeBody(4), opId: `late-${name}` }),
          "STALE_EPOCH",
        );
        must(promised === 5, `${name}: promised ${JSON.stringify(promised)}`, "the refusal tells promised 5");
      }
      done("fence with the promised epoch itself", await engine.fence(5));
      const { epoch, role } = await engine.status();
      must(epoch.promised === 5 && role !== "primary", `promised ${epoch.promised}, role ${role}`, "promised 5");
      return "409 STALE_EPOCH, promised 5, from all 7 calls";
    },
  },
  {
    id: "fence-tells-position",
    title: "A fence answers a durable position at or beyond all that was acknowledged, and who was primary",
    prevents: "the operator promotes a replica that lacks acknowledged orders",
    async check(lab) {
      const [primary, ...standbys] = await lab.trio();
      const load = startLoad(primary);
      await untilAcked(load, 50);
      const acked = highestSeq(await load.stop());
      const answers = [];
      for (const engine of [primary, ...standbys]) {
        answers.push(done(`fence ${engine.instance}`, await engine.fence(2)));
      }
      const seqs = answers.map((answer) => Number((answer["durable"] as { seq?: unknown } | undefined)?.seq));
      must((seqs[0] ?? 0) >= acked, `primary: durable ${seqs[0]}, acknowledged ${acked}`, "durable >= acknowledged");
      const best = Math.max(...seqs.slice(1));
      must(
        best >= acked,
        `best standby: durable ${best}, acknowledged ${acked}`,
        "one of n - k = 2 standbys has it all",
      );
      const led = answers.map((answer) => `${String(answer["wasPrimary"])}/${String(answer["primaryEpoch"])}`);
      const mustLead = "true/1 false/0 false/0";
      must(led.join(" ") === mustLead, `wasPrimary/primaryEpoch ${led.join(" ")}`, mustLead);
      const blank = done("fence a blank replica", await (await lab.start("te-9")).fence(2));
      must(blank["blank"] === true, `blank ${String(blank["blank"])}`, "a replica without history answers blank true");
      return `acknowledged up to ${acked}; durable ${seqs.join(" ")}; wasPrimary and primaryEpoch as they were`;
    },
  },
  {
    id: "fenced-primary-is-silent",
    title: "After it answered a fence a primary acknowledges nothing, orders in flight included",
    prevents: "an order is acknowledged that the new primary never saw",
    async check(lab) {
      const [primary, ...standbys] = await lab.trio();
      done("an order before", await primary.bid("before"));
      for (const standby of standbys) await standby.signal("SIGSTOP");
      const inFlight = bids(10, "in-flight").map((clientId) => primary.bid(clientId));
      await sleep(100);
      done("fence", await primary.fence(2));
      for (const standby of standbys) await standby.signal("SIGCONT");
      notAcknowledged("orders in flight at the fence", await Promise.all(inFlight));
      notAcknowledged("orders after the fence", await Promise.all(bids(5, "after").map((id) => primary.bid(id))));
      const { role } = await primary.status();
      must(role === "fenced" || role === "standby", `role ${role}`, "role fenced or standby");
      return "10 orders in flight and 5 after it: none acknowledged";
    },
  },
  {
    id: "isolated-primary-is-silent",
    title: "A primary whose standbys promised a newer epoch acknowledges nothing, and denies no order",
    prevents: "an isolated primary takes orders, or says that an order does not exist which the new primary has",
    async check(lab) {
      const [old, next, third] = await lab.trio();
      done("an order before", await old.bid("before"));
      done("fence te-1", await next.fence(2));
      done("fence te-2", await third.fence(2));
      const unaware = await Promise.all(bids(5, "unaware").map((id) => old.bid(id)));
      notAcknowledged("orders at the old primary", unaware);
      await lab.elect(2, [next, third]);
      done("an order at the new primary", await next.bid("elsewhere"));
      const denied = await old.find("elsewhere");
      must(denied.status !== 404, "GET of an order that the new primary has: 404", "503 or 421, but never 404");
      notAcknowledged("orders at the old primary after the election", [await old.bid("late")]);
      return "6 orders: none acknowledged; an order of the new primary is not denied";
    },
  },
  {
    id: "paused-primary-is-silent",
    title: "A primary that stood still while another was elected acknowledges nothing when it goes on",
    prevents: "acknowledgements that waited in its sockets let a woken primary confirm orders that are lost",
    async check(lab) {
      const [old, next, third] = await lab.trio();
      done("an order before", await old.bid("before"));
      await old.signal("SIGSTOP");
      const inFlight = bids(20, "asleep").map((clientId) => old.bid(clientId));
      await sleep(100);
      done("fence te-1", await next.fence(2));
      done("fence te-2", await third.fence(2));
      await lab.elect(2, [next, third]);
      done("an order at the new primary", await next.bid("meanwhile"));
      await old.signal("SIGCONT");
      notAcknowledged("orders that waited", await Promise.all(inFlight));
      notAcknowledged("an order after waking", [await old.bid("awake")]);
      return "20 orders that waited and one after: none acknowledged";
    },
  },
  {
    id: "fence-ends-following",
    title: "A standby that promised a newer epoch takes nothing more from the old primary",
    prevents: "the old primary still gathers copies, and counts them",
    async check(lab) {
      const [old, next, third] = await lab.trio();
      done("an order before", await old.bid("before"));
      const fenced = done("fence te-1", await next.fence(2));
      done("an order that te-2 confirms", await old.bid("with-te-2"));
      await third.applied(3);
      const { durable } = await next.status();
      const told = (fenced["durable"] as { seq?: unknown } | undefined)?.seq;
      must(
        durable.seq === told,
        `durable ${durable.seq} after answering ${String(told)}`,
        "the position that it answered",
      );
      return `position stays at ${durable.seq} while the old primary goes on`;
    },
  },
];
