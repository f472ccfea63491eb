/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date";
  readonly jsonPath: string;
  readonly description: string;
}

/** What `kubectl get tradingengines` shows. */
export const printerColumns: readonly PrinterColumn[] = [
  { name: "Pair", type: "string", jsonPath: ".spec.tradingPair", description: "The trading pair." },
  { name: "Primary", type: "string", jsonPath: ".status.primary", description: "Pod of the primary." },
  { name: "Epoch", type: "integer", jsonPath: ".status.epoch", description: "Counts the elections." },
  { name: "Ready", type: "string", jsonPath: ".status.readySummary", description: "Ready of wanted replicas." },
  { name: "In-Sync", type: "string", jsonPath: ".status.syncSummary", description: "Standbys in sync of wanted." },
  { name: "Status", type: "string", jsonPath: ".status.phase", description: "The state in one word." },
  { name: "Image", type: "string", jsonPath: ".spec.image", description: "The image that is wanted." },
  {
    name: "Last Failover",
    type: "date",
    jsonPath: ".status.lastFailover.time",
    description: "Time since the last change of the primary.",
  },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", description: "Time since the creation." },
];
