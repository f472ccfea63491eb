import { enginePids } from "../../../local/cluster/enginePids.ts";
import { run } from "../../../local/process/run.ts";
import type { FailoverEvent } from "./event.ts";

/** Packets between the primary and everybody but the clients are dropped in the pod's own network namespace. */
export const partitionPrimary: FailoverEvent = {
  name: "partition-primary",
  title: "the primary is cut off from everything but its clients",
  inject: async ({ engine, layout, primary, clients }) => {
    const { namespace, name } = primary.metadata;
    const [pid] = enginePids(layout, namespace, engine.engine, name);
    if (pid === undefined) throw new Error(`no process of ${namespace}/${name} runs on cluster ${layout.name}`);
    const iptables = (...args: string[]) =>
      run("nsenter", ["--target", String(pid), "--net", "iptables", "-w", "5", ...args]);
    await iptables("-P", "INPUT", "ACCEPT");
    for (const { status } of clients) {
      const ip = status?.podIP ?? "";
      await iptables("-A", "INPUT", "-s", ip, "-j", "ACCEPT");
      await iptables("-A", "OUTPUT", "-d", ip, "-j", "ACCEPT");
    }
    await iptables("-A", "INPUT", "-j", "DROP");
    await iptables("-A", "OUTPUT", "-j", "DROP");
    return async () => {
      await iptables("-F", "INPUT");
      await iptables("-F", "OUTPUT");
    };
  },
};
