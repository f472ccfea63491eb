/**
 * A process that leads while it may and writes as fast as it can, one ConfigMap after another, each named after the
 * process. Its parent stops and continues it. Prints `leading`, and `lost` at the end.
 *
 * Usage: leaderProcess.ts KUBECONFIG IDENTITY
 */
import { stdout } from "node:process";
import {
  configMaps,
  createElector,
  createKubeClient,
  isFenced,
  loadClusterAccess,
} from "../../reconciler/kube/index.ts";
import { electionTiming, leaseRef } from "./election.ts";

const [kubeconfig, identity] = process.argv.slice(2);
if (kubeconfig === undefined || identity === undefined) throw new Error("usage: leaderProcess.ts KUBECONFIG IDENTITY");

const client = createKubeClient({ access: await loadClusterAccess({ kubeconfig }), userAgent: `test/${identity}` });
const elector = createElector({ client, lease: leaseRef, identity, ...electionTiming });
const fenced = client.withFence(elector.fence());

/** Goes on although its signal has aborted: only the fence is to hold it. */
const writeUntilFenced = async (): Promise<void> => {
  stdout.write("leading\n");
  for (let i = 0; ; i++) {
    try {
      await fenced.create(configMaps, {
        metadata: { namespace: leaseRef.namespace, name: `by-${identity}-${i}`, labels: { by: identity } },
      });
    } catch (error) {
      if (isFenced(error)) return;
    }
  }
};

const end = await elector.run(new AbortController().signal, { onStartedLeading: writeUntilFenced });
await client.close();
stdout.write(`${end}\n`);
