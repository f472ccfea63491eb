import type { Rule } from "../rule.ts";
import { must } from "../violation.ts";
import { commandNames, doneBy, type ExecLab, refusedWith } from "./execLab.ts";
import { execOrderRules } from "./execOrderRules.ts";

const positionOf = (value: unknown): { epoch: number; seq: number } => value as { epoch: number; seq: number };

const stateRules: readonly Rule<ExecLab>[] = [
  {
    id: "exec-has-every-command",
    title: "Every command is there, and a new replica is a blank standby that tells what it is",
    prevents: "a failover that stops half-way because a command is missing",
    async check(lab) {
      const replica = await lab.replica("te-0");
      const { role, blank, durable, epoch, replication, lastHash } = await replica.status();
      must(
        role === "standby" && blank === true,
        `role ${String(role)}, blank ${String(blank)}`,
        "role standby, blank true",
      );
      const { promised } = epoch as { promised?: unknown };
      const told = `durable ${JSON.stringify(durable)}, promised ${JSON.stringify(promised)}`;
      must(JSON.stringify(durable) === '{"epoch":0,"seq":0}' && promised === 0, told, "durable 0/0, promised 0");
      must(
        typeof replication === "string" && replication !== "",
        `replication ${String(replication)}`,
        "replication: what a follower needs",
      );
      must(typeof lastHash === "object" && lastHash !== null, `lastHash ${String(lastHash)}`, "lastHash {seq, hash}");
      for (const name of commandNames.filter((command) => command !== "status")) {
        refusedWith(`${name} without facts`, await replica.run(name, { TE_OP_ID: "", TE_EPOCH: "" }), "badCall");
      }
      return `role standby, blank; ${commandNames.length - 1} commands exit 64 without their facts`;
    },
  },
  {
    id: "exec-promise-is-kept",
    title: "A fence is remembered, and every command with a lower epoch exits 3",
    prevents: "a replica that left an epoch still works for its old primary",
    async check(lab) {
      const [a, b] = [await lab.replica("te-0"), await lab.replica("te-1")];
      const { promised, blank } = doneBy(await a.fence(5));
      must(
        promised === 5 && blank === true,
        `promised ${String(promised)}, blank ${String(blank)}`,
        "promised 5, blank true",
      );
      doneBy(await b.promote(6));
      const late = { TE_EPOCH: 4, TE_MODE: "reject", TE_SNAPSHOT: lab.file("late") };
      refusedWith("fence 4", await a.fence(4), "stale");
      refusedWith("promote 4", await a.promote(4), "stale");
      refusedWith("follow 4", await a.follow(4, b), "stale");
      refusedWith("demote 4", await a.run("demote", late), "stale");
      refusedWith("drain 4", await a.run("drain", late), "stale");
      doneBy(await a.fence(5));
      const { epoch } = await a.status();
      const kept = (epoch as { promised?: unknown }).promised;
      must(kept === 5, `promised ${String(kept)}`, "promised 5");
      return "promised 5; fence, promote, follow, demote and drain of epoch 4 exit 3";
    },
  },
  {
    id: "exec-killed-half-way",
    title: "A command that is killed at any moment leaves the old state or the new one",
    prevents: "a node that loses power in a fence forgets its promise, or never starts again",
    async check(lab) {
      const replica = await lab.replica("te-0");
      const start = performance.now();
      doneBy(await replica.fence(1));
      const wholeMs = performance.now() - start;
      let least = 1;
      let killed = 0;
      for (let epoch = 2; epoch <= 21; epoch += 1) {
        const { code } = await replica.run("fence", { TE_EPOCH: epoch }, (wholeMs * epoch) / 18);
        if (code === 0) least = epoch;
        else killed += 1;
        const { epoch: shown } = await replica.status();
        const promised = Number((shown as { promised?: unknown }).promised);
        const allowed = promised >= least && promised <= epoch;
        must(
          allowed,
          `promised ${promised} after fences of ${least} (done) and ${epoch} (killed)`,
          `${least} to ${epoch}`,
        );
        least = promised;
      }
      refusedWith("fence below", await replica.fence(least - 1), "stale");
      return `20 fences, ${killed} of them killed: the promise never fell, and status answered each time`;
    },
  },
  {
    id: "exec-behind-exits-4",
    title: "A replica that holds less than TE_MIN_EPOCH/TE_MIN_SEQ is not promoted",
    prevents: "the new primary lacks acknowledged orders",
    async check(lab) {
      const replica = await lab.replica("te-0");
      refusedWith(
        "promote with one record more",
        await replica.promote(1, { TE_MIN_EPOCH: 0, TE_MIN_SEQ: 1 }),
        "behind",
      );
      refusedWith("promote with a later epoch", await replica.promote(2, { TE_MIN_EPOCH: 1, TE_MIN_SEQ: 0 }), "behind");
      const { role } = await replica.status();
      must(role !== "primary", `role ${String(role)}`, "not primary");
      doneBy(await replica.promote(3));
      return "exit 4 for one record more and for a later epoch, 0 for what it holds";
    },
  },
  {
    id: "exec-wrong-state-exits-5",
    title: "Commands for a primary exit 5 at a replica that does not lead, and an epoch leads once",
    prevents: "an operator that mixes up two replicas stops the wrong one",
    async check(lab) {
      const [primary, standby] = await lab.elected(2);
      const facts = { TE_EPOCH: 1, TE_MODE: "reject" };
      refusedWith("demote of a standby", await standby.run("demote", facts), "wrongState");
      refusedWith("drain of a standby", await standby.run("drain", facts), "wrongState");
      refusedWith("promote of a follower in its epoch", await standby.promote(1), "wrongState");
      refusedWith("promote of the primary in its epoch", await primary.promote(1), "wrongState");
      refusedWith("follow at the primary", await primary.follow(1, primary), "wrongState");
      return "exit 5 from demote, drain, promote and follow in the wrong role";
    },
  },
  {
    id: "exec-same-operation",
    title: "A command that comes again with its TE_OP_ID has one effect and the same output",
    prevents: "a lost answer makes the agent act twice",
    async check(lab) {
      const [primary, standby] = [await lab.replica("te-0"), await lab.replica("te-1")];
      const twice = async (what: string, run: () => Promise<Parameters<typeof doneBy>[0]>): Promise<void> => {
        const first = await run();
        doneBy(first);
        const second = await run();
        doneBy(second);
        must(
          first.stdout === second.stdout,
          `${what} again: ${second.stdout.trim()}`,
          `${what} again: ${first.stdout.trim()}`,
        );
      };
      await twice("promote", () => primary.promote(1, { TE_OP_ID: "promote-1" }));
      await twice("follow", () => standby.follow(1, primary, { TE_OP_ID: "follow-1" }));
      await twice("drain", () => primary.run("drain", { TE_EPOCH: 1, TE_MODE: "reject", TE_OP_ID: "drain-1" }));
      await twice("demote", () => primary.run("demote", { TE_EPOCH: 1, TE_OP_ID: "demote-1" }));
      await twice("fence", () => standby.fence(2, { TE_OP_ID: "fence-2" }));
      const { durable } = await primary.status();
      must(positionOf(durable).seq === 1, `durable ${JSON.stringify(durable)}`, "one epoch start, record 1");
      return "promote, follow, drain, demote and fence twice: the same output, one epoch start";
    },
  },
  {
    id: "exec-foreign-data-exits-77",
    title: "A command on another replica's data exits 77 and changes nothing",
    prevents: "a volume attached to the wrong replica joins with another's history",
    async check(lab) {
      const replica = await lab.replica("te-0");
      doneBy(await replica.fence(3));
      refusedWith("as te-9", await replica.fence(4, { TE_INSTANCE_ID: "te-9" }), "foreign");
      refusedWith("as another engine", await replica.fence(4, { TE_CLUSTER_UID: "trading/another" }), "foreign");
      const { epoch } = await replica.status();
      const { promised } = epoch as { promised?: unknown };
      must(promised === 3, `promised ${String(promised)}`, "promised 3");
      return "exit 77 for another instance and for another cluster, the promise is untouched";
    },
  },
];

export const execRules: readonly Rule<ExecLab>[] = [...stateRules, ...execOrderRules];
