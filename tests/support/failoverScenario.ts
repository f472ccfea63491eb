import { childNames, labels, labelValues } from "../../api/names.ts";
import type { FailoverPhases, TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import type { KubeClient } from "../../reconciler/kube/index.ts";
import { type Pod, pods } from "../../reconciler/kube/index.ts";
import type { HistoryReport } from "../orders/check.ts";
import { type EngineRef, getEngine, isSettled, waitForEngine, waitUntilSettled } from "./engines.ts";
import { runOrderClient } from "./orderClientRun.ts";
import { isReady, isSameContainer } from "./podState.ts";
import { compareStates } from "./stateHashes.ts";
import { waitFor } from "./waitFor.ts";

/** Makes a primary go away without warning. */
export type Kill = (primary: Pod, client: KubeClient) => Promise<void>;

export interface FailoverScenario extends EngineRef {
  readonly image: string;
  /** Told of each step, in sentences for people. */
  readonly log: (message: string) => void;
  /** Default: delete the primary's pod without grace. */
  readonly kill?: Kill;
  /** Orders a second; default 300. */
  readonly ratePerSecond?: number;
  /** Acknowledgements to wait for before the kill and again in the new epoch; default 300. */
  readonly acks?: number;
  readonly seed?: number;
  readonly via?: "replicas" | "service";
}

/** What a failover under load came to; the checker's counts included. */
export interface FailoverReport extends Omit<HistoryReport, "failoverGapMs"> {
  /** Orders that the engine refused for good. */
  readonly refused: number;
  /** Last acknowledgement of the killed primary's epoch to the first of the next, as the client saw it. */
  readonly failoverGapMs: number;
  /** From the kill until every replica was Ready again. */
  readonly repairSeconds: number;
  readonly primaryBefore: string;
  readonly primaryAfter: string;
  readonly epochBefore: number;
  readonly epochAfter: number;
  /** What the daemon's `up` after the failover said of itself in status.lastUpdate. */
  readonly upReason: string;
  readonly upResult: string;
  readonly upSeconds: number;
  /** Why the daemon replaced the primary, and how long each phase took. */
  readonly failoverReason: string;
  readonly failoverPhases: FailoverPhases | null;
  /** Every replica has the same state at the same sequence number. */
  readonly replicasAgree: boolean;
}

const deadlines = { settleMs: 120_000, acksMs: 30_000, electMs: 60_000, repairMs: 180_000, compareMs: 30_000 } as const;

/** Kills the container at once: no signal handler of the engine runs. */
export const deletePrimaryPod: Kill = ({ metadata: { namespace, name, uid } }, client) =>
  client.delete(pods, { namespace, name }, { uid, gracePeriodSeconds: 0 });

/**
 * Kills the primary while orders flow, waits until the daemon has repaired the engine, and
 * holds every acknowledgement against the surviving journal.
 *
 * @throws Error when a step does not come about in time; broken promises are counted in the report instead.
 */
export async function failoverScenario(scenario: FailoverScenario): Promise<FailoverReport> {
  const { client, namespace, engine, log } = scenario;
  const acks = scenario.acks ?? 300;
  const before = await waitUntilSettled(scenario, deadlines.settleMs);
  const orders = await runOrderClient(scenario);
  try {
    log(`orders flow from pod ${orders.pod}`);
    await orders.waitFor(`${acks} acknowledgements`, deadlines.acksMs, ({ acked }) => acked >= acks);

    const { primary: primaryBefore = "", epoch: epochBefore = 0 } = (await getEngine(scenario)).status ?? {};
    const victim = await client.get(pods, { namespace, name: primaryBefore });
    const updateBefore = before.status?.lastUpdate?.time;
    const killedAt = performance.now();
    await (scenario.kill ?? deletePrimaryPod)(victim, client);
    log(`killed the primary ${primaryBefore} (epoch ${epochBefore})`);

    const elected = await waitForEngine(scenario, {
      what: "a new primary",
      deadlineMs: deadlines.electMs,
      until: ({ status }) => (status?.epoch ?? 0) > epochBefore && (status?.primary ?? "") !== "",
    });
    log(`${elected.status?.primary ?? ""} is primary in epoch ${elected.status?.epoch ?? 0}`);
    await orders.waitFor(`${acks} acknowledgements by the new primary`, deadlines.acksMs, ({ epochs }) =>
      epochs.some((epoch) => epoch.epoch > epochBefore && epoch.acks >= acks),
    );

    const [repairedAt, update] = await Promise.all([repaired(scenario, victim), updated(scenario, updateBefore)]);
    log(`every replica is Ready again; the daemon ran \`up\` (${update.reason}, ${update.result})`);

    const final = await orders.stop();
    const { status, spec } = await getEngine(scenario);
    const primaryAfter = status?.primary ?? "";
    const history = await orders.check(primaryAfter);
    const replicas = Array.from({ length: spec.replicas }, (_, ordinal) => childNames(engine).pod(ordinal));
    const states = await compareStates(replicas, (instance) => orders.status(instance), deadlines.compareMs);
    log(
      `checked ${history.acked} acknowledged orders: ${history.lostAcked} lost, ${history.dualAcks} acknowledged twice`,
    );

    return {
      ...history,
      refused: final.refused,
      failoverGapMs: gapAfter(history, epochBefore),
      repairSeconds: (repairedAt - killedAt) / 1000,
      primaryBefore,
      primaryAfter,
      epochBefore,
      epochAfter: status?.epoch ?? 0,
      upReason: update.reason,
      upResult: update.result,
      upSeconds: update.durationMs / 1000,
      failoverReason: status?.lastFailover?.reason ?? "",
      failoverPhases: status?.lastFailover?.phases ?? null,
      replicasAgree: states.agree,
    };
  } finally {
    await orders.close();
  }
}

/** Waits until as many pods as wanted are Ready and the killed container is none of them; answers when. */
async function repaired(scenario: FailoverScenario, victim: Pod): Promise<number> {
  const { client, namespace, engine } = scenario;
  await waitFor({
    what: `every replica of ${engine} to be Ready again`,
    deadlineMs: deadlines.repairMs,
    look: async () => {
      const [object, list] = await Promise.all([
        getEngine(scenario),
        client.list(pods, {
          namespace,
          labelSelector: `${labels.engine}=${engine},${labels.name}=${labelValues.name}`,
        }),
      ]);
      return { object, ready: list.items.filter((pod) => isReady(pod) && !isSameContainer(pod, victim)).length };
    },
    until: ({ object, ready }) => isSettled(object) && ready === object.spec.replicas,
    describe: ({ object, ready }) => ({ podsReady: ready, status: object.status }),
  });
  return performance.now();
}

/** Waits for the `up` that a failover asks for and answers what it said of itself. */
async function updated(scenario: FailoverScenario, updateBefore: string | undefined) {
  const isTheOne = ({ lastUpdate }: TradingEngineStatus): boolean =>
    lastUpdate?.reason === "Failover" && lastUpdate.time !== updateBefore;
  const { status } = await waitForEngine(scenario, {
    what: "an `up` because of the failover",
    deadlineMs: deadlines.repairMs,
    until: ({ status }) => status !== undefined && isTheOne(status),
  });
  return status?.lastUpdate ?? { reason: "", result: "", durationMs: 0 };
}

/** The longest pause at a change of epoch since the kill. */
function gapAfter({ epochChanges }: HistoryReport, epochBefore: number): number {
  const gaps = epochChanges.filter(({ to }) => to > epochBefore).map(({ gapMs }) => gapMs);
  if (gaps.length === 0) throw new Error(`the client saw no change of epoch after epoch ${epochBefore}`);
  return Math.max(...gaps);
}
