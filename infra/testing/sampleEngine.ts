import { parseSpec, type TradingEngineSpec, type TradingEngineSpecInput } from "../../api/tradingEngine/index.ts";
import type { Engine } from "../engine/engine.ts";
import { defaultPeers } from "../engine/network.ts";

const written: TradingEngineSpecInput = {
  tradingPair: "BTC/USDT",
  image: "registry.example.com/engine:1.2.3",
  storageClassName: "fast",
  storage: { size: "20Gi" },
  resources: { requests: { cpu: "2", memory: "4Gi" }, limits: { memory: "4Gi" } },
};

/** A valid spec; `changes` replace whole fields of it. */
export const sampleSpec = (changes: Partial<TradingEngineSpecInput> = {}): TradingEngineSpec => {
  const parsed = parseSpec({ ...written, ...changes });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};

/** The engine `btc-usdt` in namespace `trading`, as a daemon would see it before its first `up`. */
export const sampleEngine = (
  changes: Partial<TradingEngineSpecInput> = {},
  facts: Partial<Omit<Engine, "spec">> = {},
): Engine => ({
  namespace: "trading",
  name: "btc-usdt",
  spec: sampleSpec(changes),
  owner: undefined,
  peers: defaultPeers("enginekeeper-system"),
  existingVolumes: {},
  existingVolumeTemplate: undefined,
  ...facts,
});
