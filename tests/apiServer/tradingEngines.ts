/**
 * TradingEngines on an API server, as tests create and change them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { tradingEngineCrd } from "../../api/crd/index.ts";
import { apiVersion, tradingEngineKind, tradingEnginePlural } from "../../api/names.ts";
import type { ApiClient } from "./apiClient.ts";

/** What the API server says is wrong, one entry a field. */
const refusal = z.object({
  message: z.string(),
  details: z.object({ causes: z.array(z.object({ field: z.string().optional(), message: z.string() })).optional() }),
});

export interface Cause {
  readonly field: string;
  readonly message: string;
}

/** The causes of a refusal; empty when `body` is none. */
export const causesOf = (body: unknown): readonly Cause[] => {
  const parsed = refusal.safeParse(body);
  return (parsed.data?.details.causes ?? []).map(({ field = "", message }) => ({ field, message }));
};

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const crdWithConditions = z.object({
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).nullish() }),
});

export const tradingEnginesPath = `/apis/${apiVersion}/namespaces/default/${tradingEnginePlural}`;

/** What names a TradingEngine in a body. */
export const tradingEngineReference = (name: string) => ({ apiVersion, kind: tradingEngineKind, metadata: { name } });

/** A TradingEngine object with the given spec. */
export const tradingEngine = (name: string, spec: object) => ({ ...tradingEngineReference(name), spec });

const isEstablished = async (client: ApiClient, name: string): Promise<boolean> => {
  const { body } = await client.call("GET", `${crds}/${name}`);
  const conditions = crdWithConditions.parse(body).status.conditions ?? [];
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
};

/**
 * Installs the CRD and waits until TradingEngines are served.
 * @throws when the API server refuses it, with its reasons, or does not serve it within 30 s
 */
export const installTradingEngineCrd = async (client: ApiClient): Promise<void> => {
  const crd = tradingEngineCrd();
  const created = await client.call("POST", crds, crd);
  if (created.status !== 201) throw new Error(`the CRD is refused: ${JSON.stringify(created.body)}`);
  const deadline = performance.now() + 30_000;
  while (
    !(await isEstablished(client, crd.metadata.name)) ||
    (await client.call("GET", tradingEnginesPath)).status !== 200
  ) {
    if (performance.now() > deadline) throw new Error("the CRD was not established within 30 s");
    await sleep(100);
  }
};
