import { createHash } from "node:crypto";
import type { types } from "@pulumi/kubernetes";
import { childNames, group } from "../../api/names.ts";
import type { Engine } from "./engine.ts";
import { childMetadata } from "./metadata.ts";

/** File name of the configuration in the ConfigMap, and so in the container. */
export const configKey = "config.json";

/** Annotation of the pod template: the SHA-256 that a replica with the current configuration reports as configHash. */
export const configHashAnnotation = `${group}/config-hash`;

/** Keys in one order whatever order they were written in, so that reordering a spec replaces no pod. */
const inOneOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOneOrder);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOneOrder(inner)]));
};

/** The configuration file of an engine, as its replicas read it. */
export const configFile = (engine: Engine): string =>
  JSON.stringify(inOneOrder({ ...engine.spec.config, tradingPair: engine.spec.tradingPair }));

/** SHA-256 of {@link configFile}, in hexadecimal. */
export const configHash = (engine: Engine): string => createHash("sha256").update(configFile(engine)).digest("hex");

export const configMap = (engine: Engine): types.input.core.v1.ConfigMap => ({
  metadata: childMetadata(engine, childNames(engine.name).config),
  data: { [configKey]: configFile(engine) },
});
