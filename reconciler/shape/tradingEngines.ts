import { group, tradingEngineKind, tradingEnginePlural, version } from "../../api/names.ts";
import { defineResource, type NamespacedObject } from "../kube/index.ts";

/** The collection of TradingEngines; objects are parsed by the api folder where they are read. */
export const tradingEngines = defineResource<NamespacedObject>({
  group,
  version,
  plural: tradingEnginePlural,
  kind: tradingEngineKind,
  namespaced: true,
});
