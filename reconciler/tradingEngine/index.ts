/** The custom resource that everything here is about, as a collection of the API server. */
import { group, tradingEngineKind, tradingEnginePlural, version } from "../../api/names.ts";
import { parseTradingEngine, type Result, type TradingEngine } from "../../api/tradingEngine/index.ts";
import { defineResource, type NamespacedObject } from "../kube/index.ts";

/** The collection of TradingEngines, as the API server stores them; {@link readEngine} gives them their type. */
export const tradingEngines = defineResource<NamespacedObject>({
  group,
  version,
  plural: tradingEnginePlural,
  kind: tradingEngineKind,
  namespaced: true,
});

/** Objects of a store never change, and each is looked at several times a second. */
const parsed = new WeakMap<NamespacedObject, Result<TradingEngine>>();

/** A stored TradingEngine with its type and all defaults, or what is wrong with it. */
export function readEngine(object: NamespacedObject): Result<TradingEngine> {
  const known = parsed.get(object);
  if (known !== undefined) return known;
  const result = parseTradingEngine(object);
  parsed.set(object, result);
  return result;
}
