import { randomBytes } from "node:crypto";
import { type EngineStatus, engineStatus } from "../../api/contract/v1.ts";
import { isNotFound, networkPolicies, pods } from "../../reconciler/kube/index.ts";
import type { Ack } from "../orders/ackLog.ts";
import { checkHistory, type HistoryReport, type JournalRecord } from "../orders/check.ts";
import { defaultPort } from "../orders/config.ts";
import type { OrderClientSummary } from "../orders/orderClient.ts";
import { type EngineRef, getEngine } from "./engines.ts";
import { parseNdjson } from "./ndjson.ts";
import { type OrderClientSpec, orderClientNetworkPolicy, orderClientPod } from "./orderClientPod.ts";
import { type ProxyRequest, podProxy } from "./podProxy.ts";
import { waitFor } from "./waitFor.ts";

export interface OrderClientStart extends EngineRef {
  readonly image: string;
  /** Orders a second; default 300. */
  readonly ratePerSecond?: number;
  /** Default 16. */
  readonly workers?: number;
  /** Default 1. */
  readonly seed?: number;
  /** Default: straight to the replicas. */
  readonly via?: OrderClientSpec["via"];
}

/** An order client at work in a pod of the engine's namespace. */
export interface OrderClientRun {
  readonly pod: string;
  summary(): Promise<OrderClientSummary>;
  /** Waits until `until` is true of the summary. */
  waitFor(
    what: string,
    deadlineMs: number,
    until: (summary: OrderClientSummary) => boolean,
  ): Promise<OrderClientSummary>;
  /** Sends nothing new, resolves what is outstanding, answers the final summary. */
  stop(): Promise<OrderClientSummary>;
  /** Every acknowledgement so far, in the order of arrival. */
  acks(): Promise<Iterable<Ack>>;
  /** The whole durable journal of a replica. */
  journal(instance: string): Promise<Iterable<JournalRecord>>;
  status(instance: string): Promise<EngineStatus>;
  /** After {@link stop}: holds every acknowledgement against the journal of `survivor`. */
  check(survivor: string): Promise<HistoryReport>;
  /** Deletes the pod. */
  close(): Promise<void>;
}

const startDeadlineMs = 60_000;
const stopDeadlineMs = 30_000;
/** A journal of a million records takes seconds through two proxies. */
const historyTimeoutMs = 120_000;

/** Starts an order client for the engine and waits until it answers. */
export async function runOrderClient(start: OrderClientStart): Promise<OrderClientRun> {
  const { client, namespace, engine } = start;
  const { spec } = await getEngine(start);
  const run = `${engine}-orders-${randomBytes(3).toString("hex")}`;
  const podSpec: OrderClientSpec = {
    namespace,
    engine,
    run,
    image: start.image,
    replicas: spec.replicas,
    ratePerSecond: start.ratePerSecond ?? 300,
    workers: start.workers ?? 16,
    seed: start.seed ?? 1,
    via: start.via ?? "replicas",
    tickSize: spec.config.tickSize,
    lotSize: spec.config.lotSize,
  };
  const pod = await client.create(pods, orderClientPod(podSpec));

  const call = (request: ProxyRequest) => podProxy(client, { namespace, pod: run, port: defaultPort }, request);
  const summary = async () => JSON.parse(await call({ path: "/summary" })) as OrderClientSummary;
  const lines = async <T>(path: string) => parseNdjson<T>(await call({ path, timeoutMs: historyTimeoutMs }));
  let unresolved = 0;

  const orderClient: OrderClientRun = {
    pod: run,
    summary,
    waitFor: (what, deadlineMs, until) => waitFor({ what: `${run}: ${what}`, deadlineMs, look: summary, until }),
    async stop() {
      const path = `/stop?deadlineMs=${stopDeadlineMs}`;
      const body = await call({ method: "POST", path, timeoutMs: stopDeadlineMs + 10_000 });
      const final = JSON.parse(body) as OrderClientSummary;
      unresolved = final.unresolved;
      return final;
    },
    acks: () => lines<Ack>("/acks"),
    journal: (instance) => lines<JournalRecord>(`/journal/${instance}?fromSeq=1`),
    status: async (instance) => engineStatus.parse(JSON.parse(await call({ path: `/status/${instance}` }))),
    async check(survivor) {
      return checkHistory({ acks: await this.acks(), journal: await this.journal(survivor), unresolved });
    },
    async close() {
      await client.delete(pods, { namespace, name: run }, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    },
  };
  try {
    await client.create(networkPolicies, orderClientNetworkPolicy(podSpec, pod.metadata.uid));
    await waitFor({
      what: `order client ${run} to answer`,
      deadlineMs: startDeadlineMs,
      look: summary,
      until: () => true,
    });
  } catch (error) {
    const state = await client.get(pods, { namespace, name: run });
    await orderClient.close();
    throw new Error(`${String(error)}; the pod is ${JSON.stringify(state.status)}`, { cause: error });
  }
  return orderClient;
}
