import type { Rule } from "../rule.ts";
import { done, must } from "../violation.ts";

/** What every engine must be able to do, under these names in `capabilities`. */
const mandatory = ["fence", "promote", "follow", "demote", "members", "drain", "hash", "journal"];

export const startRules: readonly Rule[] = [
  {
    id: "starts-as-blank-standby",
    title: "A new process is a standby without history, and says what it is",
    prevents: "two primaries after a restart; a blank replica that is counted as if it held orders",
    async check(lab) {
      const status = await (await lab.start("te-0")).status();
      const { role, blank, instance, clusterUid, contractVersion, capabilities } = status;
      must(role === "standby" && blank, `role ${role}, blank ${blank}`, "role standby, blank true");
      must(instance === "te-0", `instance ${instance}`, "instance te-0, as TE_INSTANCE_ID says");
      must(clusterUid === "trading/conformance", `clusterUid ${clusterUid}`, "clusterUid as TE_CLUSTER_UID says");
      must(contractVersion === 1, `contractVersion ${contractVersion}`, "contractVersion 1");
      const missing = mandatory.filter((capability) => !capabilities.includes(capability));
      must(
        missing.length === 0,
        `capabilities without ${missing.join(", ")}`,
        `capabilities with ${mandatory.join(", ")}`,
      );
      return `role standby, blank, contract 1, capabilities ${capabilities.join(" ")}`;
    },
  },
  {
    id: "restart-is-standby",
    title: "A primary that dies comes back as a standby, and takes no orders",
    prevents: "a restarted primary goes on alone while another was promoted meanwhile",
    async check(lab) {
      const primary = await lab.start("te-0");
      const standby = await lab.start("te-1");
      await lab.elect(1, [primary, standby]);
      const before = await primary.status();
      await primary.kill();
      const again = await lab.start("te-0");
      const { role, processId, blank } = await again.status();
      must(role !== "primary", `role ${role}`, "any role but primary");
      must(processId !== before.processId, "the same processId", "a new processId with every process");
      must(!blank, "blank true", "blank false: it holds history");
      const answer = await again.bid("after-restart");
      must(answer.status === 421, `an order: ${answer.status}`, "an order: 421");
      done("the standby is still reachable", await standby.get("/v1/status"));
      return `role ${role}, an order is answered 421`;
    },
  },
];
