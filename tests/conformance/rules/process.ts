import { highestSeq, startLoad, untilAcked } from "../load.ts";
import type { Rule } from "../rule.ts";
import { done, must } from "../violation.ts";

const configMistakes: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
  ["no TE_CLUSTER_UID", { TE_CLUSTER_UID: undefined }],
  ["no TE_INSTANCE_ID", { TE_INSTANCE_ID: undefined }],
  ["TE_CONTROL_ADDR nowhere", { TE_CONTROL_ADDR: "nowhere" }],
  ["TE_TOKEN_FILE without a file", { TE_TOKEN_FILE: "/nonexistent/token" }],
  ["TE_CONFIG_FILE without a file", { TE_CONFIG_FILE: "/nonexistent/config.json" }],
];

export const processRules: readonly Rule[] = [
  {
    id: "exit-64-on-bad-config",
    title: "A process that cannot use its configuration exits 64",
    prevents: "a mistake in the configuration is taken for a crash, and failed over for ever",
    async check(lab) {
      for (const [index, [what, env]] of configMistakes.entries()) {
        const code = await lab.exitOf(`te-${index}`, { env });
        must(code === 64, `${what}: exit ${String(code)}`, `${what}: exit 64`);
      }
      return `exit 64 with ${configMistakes.map(([what]) => what).join("; ")}`;
    },
  },
  {
    id: "exit-77-on-foreign-data",
    title: "A process that finds another replica's data exits 77 and leaves it alone",
    prevents: "a volume attached to the wrong replica joins with another's history",
    async check(lab) {
      const engine = await lab.start("te-0");
      done("fence", await engine.fence(3));
      await engine.kill();
      const instance = await lab.exitOf("te-0", { instance: "te-9" });
      must(instance === 77, `as te-9: exit ${String(instance)}`, "as te-9: exit 77");
      const cluster = await lab.exitOf("te-0", { clusterUid: "trading/another" });
      must(cluster === 77, `as replica of trading/another: exit ${String(cluster)}`, "exit 77");
      const { epoch } = await (await lab.start("te-0")).status();
      must(epoch.promised === 3, `promised ${epoch.promised} for the owner afterwards`, "promised 3");
      return "exit 77 for another instance and for another cluster; the owner finds its promise";
    },
  },
  {
    id: "exit-76-on-damaged-journal",
    title: "A process that finds its journal damaged before its end exits 76",
    prevents: "acknowledged records are cut away as if they had been a torn write",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      for (let count = 0; count < 20; count += 1) done("an order", await primary.bid(`order-${count}`));
      await primary.kill();
      await lab.damageJournal("te-0");
      const code = await lab.exitOf("te-0");
      must(code === 76, `exit ${String(code)}`, "exit 76");
      return "one bit in the middle of 21 records: exit 76";
    },
  },
  {
    id: "exit-75-while-data-is-in-use",
    title: "A process whose data another process uses exits 75",
    prevents: "two processes write one journal when a volume is attached twice",
    async check(lab) {
      const engine = await lab.start("te-0");
      const code = await lab.exitOf("te-0");
      must(code === 75, `the second process: exit ${String(code)}`, "exit 75");
      done("status of the first", await engine.get("/v1/status"));
      return "the second process exits 75, the first goes on";
    },
  },
  {
    id: "term-drains-and-exits-0",
    title:
      "On TERM a primary answers what is under way, loses nothing that it acknowledged, and exits 0 within its deadline",
    prevents: "every rollout costs orders, or waits for the grace period",
    async check(lab) {
      const [primary, second, third] = await lab.trio();
      const load = startLoad(primary);
      await untilAcked(load, 50);
      const start = performance.now();
      await primary.signal("SIGTERM");
      const code = await primary.run.exited;
      const seconds = (performance.now() - start) / 1000;
      const acked = highestSeq(await load.stop());
      must(code === 0, `primary: exit ${String(code)}`, "exit 0");
      // TE_DRAIN_DEADLINE_MS is 5 s; the rest is for a busy machine.
      must(seconds < 10, `primary: ${seconds.toFixed(1)} s`, "within TE_DRAIN_DEADLINE_MS = 5 s");
      const durable = Math.max(
        ...(await Promise.all([second, third].map(async (engine) => (await engine.status()).durable.seq))),
      );
      must(durable >= acked, `best standby durable ${durable}, acknowledged ${acked}`, "durable >= acknowledged");
      await second.signal("SIGTERM");
      const standbyCode = await second.run.exited;
      must(standbyCode === 0, `standby: exit ${String(standbyCode)}`, "exit 0");
      return `exit 0 after ${seconds.toFixed(1)} s under load, acknowledged up to ${acked}, standby holds ${durable}; a standby exits 0`;
    },
  },
];
