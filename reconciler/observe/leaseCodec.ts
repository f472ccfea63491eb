/** How an engine's Lease is written and read. The only place that knows its annotations. */
import { z } from "zod";
import { apiVersion, childNames, group, labels, labelValues, tradingEngineKind } from "../../api/names.ts";
import type { Draft, Lease } from "../kube/index.ts";
import type { CommitRule, EngineKey, LeaseView } from "./snapshot.ts";

/** The rule that the epoch acknowledges by: counting promises depends on it, so it must outlive everybody. */
const ruleAnnotation = `${group}/commit-rule`;
/** Set once a primary was in place: from then on no empty replica may lead. */
const establishedAnnotation = `${group}/established`;

const storedRule = z.object({ members: z.array(z.string()).min(1), k: z.int().min(0) });

/** What a Lease says, except when that was first seen. */
export function readLease(lease: Lease): Omit<LeaseView, "seenAt"> {
  const { metadata, spec } = lease;
  const holder = spec?.holderIdentity ?? "";
  return {
    resourceVersion: metadata.resourceVersion,
    holder,
    epoch: spec?.leaseTransitions ?? 0,
    rule: readRule(metadata.annotations?.[ruleAnnotation]),
    established: holder !== "" || metadata.annotations?.[establishedAnnotation] === "true",
  };
}

/** A rule that cannot be read is as good as none: the spec's then counts. */
function readRule(text: string | undefined): CommitRule | undefined {
  if (text === undefined) return undefined;
  try {
    return storedRule.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export interface LeaseContent {
  readonly engine: EngineKey;
  /** uid of the TradingEngine: the Lease goes with it. */
  readonly ownerUid: string;
  /** Undefined for a new Lease. */
  readonly resourceVersion: string | undefined;
  readonly holder: string;
  readonly epoch: number;
  readonly rule: CommitRule;
  readonly established: boolean;
}

/** The whole Lease object for a create or a replace. */
export function leaseObject(content: LeaseContent): Draft<Lease> {
  const { engine, ownerUid, resourceVersion, holder, epoch, rule, established } = content;
  return {
    metadata: {
      namespace: engine.namespace,
      name: childNames(engine.name).lease,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      labels: {
        [labels.engine]: engine.name,
        [labels.name]: labelValues.name,
        [labels.instance]: engine.name,
        [labels.managedBy]: labelValues.managedBy,
        [labels.partOf]: labelValues.partOf,
      },
      annotations: {
        [ruleAnnotation]: JSON.stringify(rule),
        ...(established ? { [establishedAnnotation]: "true" } : {}),
      },
      ownerReferences: [{ apiVersion, kind: tradingEngineKind, name: engine.name, uid: ownerUid }],
    },
    spec: { holderIdentity: holder, leaseTransitions: epoch },
  };
}
