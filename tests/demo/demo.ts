/** The steps of the demo, and what it reports. */
import { pulumiConfig, pulumiDestroy, pulumiOutputs, pulumiUp } from "../../local/pulumi/workspace.ts";
import { loadClusterAccess } from "../../reconciler/kube/access.ts";
import { createKubeClient } from "../../reconciler/kube/client.ts";
import { type FailoverReport, failoverScenario } from "../support/failoverScenario.ts";
import { losePrimary } from "../support/killProcess.ts";
import type { Target } from "./options.ts";
import { findPlace, isWarm, type Place, preparePlace, removePlace } from "./place.ts";

const platformStack = "dev";
const pair = "btc-usdt";
const namespace = "trading";

/** What `--json` writes: stable names. */
export interface DemoReport extends FailoverReport {
  /** Start or check of the cluster, tools and images included. */
  readonly clusterSeconds: number;
  readonly upPlatformSeconds: number;
  readonly upPairSeconds: number;
  readonly totalSeconds: number;
}

type Say = (message: string) => void;

const timed = async <T>(work: () => Promise<T>): Promise<[result: T, seconds: number]> => {
  const started = performance.now();
  const result = await work();
  return [result, Math.round(performance.now() - started) / 1000];
};

/** Runs the whole demo. Broken promises are in the report; a step that fails throws. */
export const runDemo = async (repository: string, target: Target, say: Say, verbose: boolean): Promise<DemoReport> => {
  const started = performance.now();
  const pulumiLine: Say = verbose ? (line) => say(`    ${line}`) : () => undefined;
  const detail: Say = (line) => say(`  ${line}`);

  say(isWarm(target) ? "1. the cluster, which runs already" : "1. a real cluster");
  const [place, clusterSeconds] = await timed(() => preparePlace(repository, target, detail));
  detail(`ready after ${clusterSeconds.toFixed(1)} s`);

  say("2. the platform: pulumi up (CRDs, rights, namespaces, the daemon)");
  const [, upPlatformSeconds] = await timed(() => installPlatform(place, pulumiLine));
  detail(`installed in ${upPlatformSeconds.toFixed(1)} s`);

  say(`3. the pair ${pair}: pulumi up of stacks/Pulumi.${pair}.yaml`);
  const [outputs, upPairSeconds] = await timed(async () => {
    await pulumiConfig(place.workspace, "pairs", pair, {
      "engine.image": place.engineImage,
      "engine.storageClassName": place.storageClass,
    });
    await pulumiUp(place.workspace, "pairs", pair, pulumiLine);
    return await pulumiOutputs(place.workspace, "pairs", pair);
  });
  detail(`trading after ${upPairSeconds.toFixed(1)} s: ${JSON.stringify(outputs)}`);

  say("4. orders flow, and the primary is killed");
  const failover = await runFailover(place, detail);
  const report: DemoReport = {
    clusterSeconds,
    upPlatformSeconds,
    upPairSeconds,
    ...failover,
    totalSeconds: Math.round(performance.now() - started) / 1000,
  };
  say(summary(report));
  say(nextSteps(place));
  return report;
};

const installPlatform = async ({ workspace, operatorImage }: Place, onLine: Say): Promise<void> => {
  await pulumiConfig(workspace, "platform", platformStack, { operatorImage });
  await pulumiUp(workspace, "platform", platformStack, onLine);
};

/** The first two steps of the demo: a cluster with the platform on it, for whoever brings engines of his own. */
export const bringUpPlatform = async (repository: string, target: Target, say: Say): Promise<Place> => {
  const place = await preparePlace(repository, target, say);
  await installPlatform(place, () => undefined);
  return place;
};

const runFailover = async (place: Place, log: Say): Promise<FailoverReport> => {
  const access = await loadClusterAccess({
    kubeconfig: place.kubeconfig,
    ...(place.context === undefined ? {} : { context: place.context }),
  });
  const client = createKubeClient({ access, userAgent: "enginekeeper-demo" });
  try {
    return await failoverScenario({
      client,
      namespace,
      engine: pair,
      image: place.engineImage,
      log,
      // Elsewhere the nodes are out of reach, and the pod is deleted without grace.
      ...(place.layout === undefined ? {} : { kill: losePrimary(place.layout, pair) }),
    });
  } finally {
    await client.close();
  }
};

const summary = (report: DemoReport): string => `
orders acknowledged      ${report.acked}
  lost                   ${report.lostAcked}
  acknowledged twice     ${report.dualAcks}
primary                  ${report.primaryBefore} (epoch ${report.epochBefore}) -> ${report.primaryAfter} (epoch ${report.epochAfter})
pause seen by clients    ${report.failoverGapMs.toFixed(0)} ms
full strength after      ${report.repairSeconds.toFixed(1)} s, pulumi up by the daemon: ${report.upReason}, ${report.upResult} in ${report.upSeconds.toFixed(1)} s
replicas agree           ${report.replicasAgree ? "yes" : "NO"}
whole demo               ${report.totalSeconds.toFixed(0)} s`;

const nextSteps = (place: Place): string => `
Everything is still running. Try:
  export KUBECONFIG=${place.kubeconfig} PATH=${place.workspace.folders.platform.replace(/workspace$/, "bin")}:$PATH
  kubectl get tradingengines -n ${namespace} -o wide
  kubectl describe tradingengine ${pair} -n ${namespace}
  kubectl delete pod -n ${namespace} -l enginekeeper.dev/role=primary --grace-period=0 --force
  kubectl annotate tradingengine ${pair} -n ${namespace} enginekeeper.dev/switchover-to=${pair}-0
  kubectl logs -n enginekeeper-system deployment/enginekeeper -f
and ./demo --down to remove it.`;

/** Takes down what an earlier run left. */
export const removeDemo = async (repository: string, target: Target, say: Say): Promise<void> => {
  const place = await findPlace(repository, target);
  if (place !== null) {
    // The pair before the platform: without the daemon nobody would take an engine down in order.
    for (const [project, stack] of [
      ["pairs", pair],
      ["platform", platformStack],
    ] as const) {
      say(`pulumi destroy of ${stack}`);
      await pulumiDestroy(place.workspace, project, stack, () => undefined);
    }
  }
  await removePlace(target);
};
