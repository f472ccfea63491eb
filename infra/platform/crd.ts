import type { types } from "@pulumi/kubernetes";
import { tradingEngineCrd } from "../../api/crd/index.ts";
import { platformMetadata } from "./metadata.ts";

type Definition = types.input.apiextensions.v1.CustomResourceDefinition;

/** The kinds that people write, as the API server takes them. */
export const tradingEngineDefinition = (): Definition => {
  const { metadata, spec } = tradingEngineCrd();
  return {
    metadata: platformMetadata(metadata.name),
    // The SDK's type knows only the spelling x_kubernetes_validations; the provider passes on the API's own, with hyphens.
    spec: spec as unknown as Definition["spec"],
  };
};
