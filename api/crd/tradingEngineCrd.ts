/**
 * The CustomResourceDefinition of TradingEngine, made from its zod schema.
 */
import { group, labels, labelValues, tradingEngineKind, tradingEnginePlural, version } from "../names.ts";
import { celRule, validationsKey } from "../schema/rule.ts";
import { tradingEngineSpec } from "../tradingEngine/spec.ts";
import { tradingEngineStatus } from "../tradingEngine/status.ts";
import { nameRules, volumeRules } from "../tradingEngine/tradingEngine.ts";
import { type PrinterColumn, printerColumns } from "./printerColumns.ts";
import { type StructuralSchema, structuralSchema } from "./structuralSchema.ts";

/** One version of a kind, as apiextensions.k8s.io/v1 defines it. */
export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources: { readonly status: Readonly<Record<string, never>> };
  readonly additionalPrinterColumns: readonly PrinterColumn[];
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
}

export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced";
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly versions: readonly CustomResourceVersion[];
  };
}

const rootSchema = (): StructuralSchema => ({
  description: "A matching engine for one trading pair, with standbys, kept trading through failures.",
  type: "object",
  required: ["spec"],
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    // The bound is Kubernetes' own; stated, it bounds the estimated cost of the rules about the name.
    metadata: { type: "object", properties: { name: { type: "string", maxLength: 253 } } },
    spec: structuralSchema(tradingEngineSpec, "spec"),
    status: structuralSchema(tradingEngineStatus, "status"),
  },
  [validationsKey]: [...nameRules, ...volumeRules].map(celRule),
});

/** The definition to install in a cluster; plain data, the same at every call. */
export const tradingEngineCrd = (): CustomResourceDefinition => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${tradingEnginePlural}.${group}`, labels: { [labels.partOf]: labelValues.partOf } },
  spec: {
    group,
    scope: "Namespaced",
    names: {
      kind: tradingEngineKind,
      listKind: `${tradingEngineKind}List`,
      plural: tradingEnginePlural,
      singular: tradingEngineKind.toLowerCase(),
      shortNames: ["te"],
      categories: ["all", "enginekeeper"],
    },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: printerColumns,
        schema: { openAPIV3Schema: rootSchema() },
      },
    ],
  },
});
