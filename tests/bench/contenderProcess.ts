/**
 * One contender in a process of its own, so that neither heap nor warm-up of the other counts. Tells its parent when it has
 * listed all Pods, when it has heard all changes and, once told to make its requests, the figures.
 *
 * Usage: contenderProcess.ts ours|clientNode SERVER-URL CA
 */
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { podCount } from "./benchPod.ts";
import { type ContenderName, contenders } from "./contenders.ts";
import type { PodServer } from "./podServer.ts";
import { percentile } from "./report.ts";

/** One run of one contender. */
export interface Figures {
  readonly listMs: number;
  /** CPU time of the list in all threads: what it costs, however busy the machine is. */
  readonly listCpuMs: number;
  readonly longestBlockMs: number;
  readonly heapMb: number;
  readonly requestsPerSecond: number;
  /** CPU time in all threads for each change. */
  readonly eventCpuUs: number;
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
}

/** Changes that the parent has the server send once all have listed. */
export const changeCount = 2_000;
const requestCount = 500;
const warmUpRequests = 100;

const heapMb = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

const measure = async (name: ContenderName, server: PodServer): Promise<Figures> => {
  const contender = await contenders[name](server);
  const heapBefore = heapMb();
  const allAdded = Promise.withResolvers<undefined>();
  const allUpdated = Promise.withResolvers<undefined>();
  const latencies: number[] = [];
  let added = 0;

  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpuBefore = process.cpuUsage();
  const started = performance.now();
  const following = contender.follow(
    () => {
      if (++added === podCount) allAdded.resolve(undefined);
    },
    (sentAt) => {
      latencies.push(Number(process.hrtime.bigint() - sentAt) / 1e6);
      if (latencies.length === changeCount) allUpdated.resolve(undefined);
    },
  );
  await Promise.all([following, allAdded.promise]);
  const listMs = performance.now() - started;
  const listCpu = process.cpuUsage(cpuBefore);
  // The last block ends only with this turn of the loop.
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.disable();
  const heapAfter = heapMb();

  const cpuBeforeEvents = process.cpuUsage();
  process.send?.("listed");
  await allUpdated.promise;
  const eventCpu = process.cpuUsage(cpuBeforeEvents);
  process.send?.("heard");
  await once(process, "message");

  for (let i = 0; i < warmUpRequests; i++) await contender.getOne();
  const requestsStarted = performance.now();
  for (let i = 0; i < requestCount; i++) await contender.getOne();
  const requestsMs = performance.now() - requestsStarted;

  return {
    listMs,
    listCpuMs: (listCpu.user + listCpu.system) / 1000,
    longestBlockMs: delay.max / 1e6,
    heapMb: heapAfter - heapBefore,
    requestsPerSecond: (requestCount * 1000) / requestsMs,
    eventCpuUs: (eventCpu.user + eventCpu.system) / changeCount,
    latencyP50Ms: percentile(latencies, 0.5),
    latencyP99Ms: percentile(latencies, 0.99),
  };
};

const [name, url, ca] = process.argv.slice(2);
if ((name === "ours" || name === "clientNode") && url !== undefined && ca !== undefined) {
  process.send?.({ figures: await measure(name, { url, ca }) });
  process.exit(0);
}
