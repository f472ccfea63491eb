/**
 * What people get wrong in a TradingEngine, and what they are told: one table for both
 * judges, the API server and parseSpec.
 */

/** A part of a spec, laid over a valid one. */
export type SpecPatch = Readonly<Record<string, unknown>>;

export interface RuleCase {
  readonly name: string;
  readonly spec: SpecPatch;
  /** Field of the message, from the spec. */
  readonly field: string;
  /** What the message must say. */
  readonly says: string;
}

export const validSpec = { tradingPair: "BTC/USDT", image: "registry.example.com/engine:1.0" };

const sha256 = "a".repeat(64);

/** Specs that must be accepted. */
export const goodSpecs: Readonly<Record<string, SpecPatch>> = {
  "nothing but a pair and an image": {},
  "a digest": { image: `registry.example.com:5000/team/engine@sha256:${sha256}` },
  "a tag and a digest": { image: `engine:1.0@sha256:${sha256}` },
  "one replica that trades without standbys": {
    replicas: 1,
    failoverStrategy: { durability: "Available", syncStandbys: 0 },
  },
  "seven replicas, six in sync": { replicas: 7, failoverStrategy: { syncStandbys: 6 } },
  "quantities as numbers and as text": {
    resources: { requests: { cpu: 2, memory: "4Gi" }, limits: { cpu: "2500m", memory: "4Gi" } },
  },
  "a request without a limit": { resources: { requests: { cpu: "1" }, limits: { memory: "1Gi" } } },
  "other keys of config": { config: { tickSize: "1", depth: { levels: 20 } } },
  "a whole backup policy": {
    backupPolicy: {
      schedule: "0 */4 * * *",
      timeZone: "America/Argentina/Buenos_Aires",
      volumeSnapshotClassName: "csi-snap",
      retention: { keepLast: 1, keepDaily: 0, keepWeekly: 0 },
      restoreDrill: { schedule: "0 3 * * SUN" },
    },
  },
  "wishes of people": {
    paused: true,
    hibernate: true,
    drift: { policy: "Report" },
    deletionPolicy: { volumes: "Delete" },
  },
};

const schedule = (written: string): SpecPatch => ({ backupPolicy: { schedule: written } });

/** Specs that a rule must refuse. */
export const ruleCases: readonly RuleCase[] = [
  {
    name: "a pair in small letters",
    spec: { tradingPair: "btc/usdt" },
    field: "tradingPair",
    says: "such as BTC/USDT",
  },
  { name: "a pair without a quote", spec: { tradingPair: "BTC" }, field: "tradingPair", says: "BASE/QUOTE" },
  { name: "an empty image", spec: { image: "" }, field: "image", says: "image must name a tag" },
  { name: "an image without a tag", spec: { image: "host:5000/engine" }, field: "image", says: "better, a digest" },
  { name: "a cut digest", spec: { image: "engine@sha256:abc" }, field: "image", says: "64 hex digits" },
  { name: "no replica", spec: { replicas: 0 }, field: "replicas", says: "replicas must be from 1 to 7" },
  { name: "eight replicas", spec: { replicas: 8 }, field: "replicas", says: "replicas must be from 1 to 7" },
  {
    name: "as many sync standbys as replicas",
    spec: { replicas: 2, failoverStrategy: { syncStandbys: 2 } },
    field: "failoverStrategy.syncStandbys",
    says: "must be less than replicas",
  },
  {
    name: "one replica with the defaults for three",
    spec: { replicas: 1 },
    field: "failoverStrategy.syncStandbys",
    says: "with replicas 1: syncStandbys: 0",
  },
  {
    name: "strict durability without a standby",
    spec: { failoverStrategy: { syncStandbys: 0 } },
    field: "failoverStrategy.syncStandbys",
    says: "durability Strict needs syncStandbys of at least 1",
  },
  {
    name: "a detection as slow as the stall",
    spec: { failoverStrategy: { detectionMilliseconds: 2000, writeStallMilliseconds: 2000 } },
    field: "failoverStrategy.detectionMilliseconds",
    says: "must be less than writeStallMilliseconds",
  },
  { name: "a size without a number", spec: { storage: { size: "Gi" } }, field: "storage.size", says: "such as 20Gi" },
  { name: "a size of zero", spec: { storage: { size: "0Gi" } }, field: "storage.size", says: "greater than zero" },
  {
    name: "a cpu request over its limit",
    spec: { resources: { requests: { cpu: 2 }, limits: { cpu: "1500m" } } },
    field: "resources",
    says: "resources.requests.cpu must not be greater",
  },
  {
    name: "a memory request over its limit",
    spec: { resources: { requests: { memory: "2Gi" }, limits: { memory: "2G" } } },
    field: "resources",
    says: "resources.requests.memory must not be greater",
  },
  {
    name: "a quantity in words",
    spec: { resources: { requests: { memory: "much" } } },
    field: "resources.requests.memory",
    says: "must be a quantity of zero or more",
  },
  {
    name: "a negative quantity",
    spec: { resources: { limits: { cpu: -1 } } },
    field: "resources.limits.cpu",
    says: "must be a quantity of zero or more",
  },
  {
    name: "a tick in words",
    spec: { config: { tickSize: "small" } },
    field: "config.tickSize",
    says: "decimal number",
  },
  {
    name: "a tick of zero",
    spec: { config: { tickSize: "0.00" } },
    field: "config.tickSize",
    says: "greater than zero",
  },
  { name: "a negative lot", spec: { config: { lotSize: "-1" } }, field: "config.lotSize", says: "decimal number" },
  { name: "a lot of zero", spec: { config: { lotSize: "0" } }, field: "config.lotSize", says: "greater than zero" },
  { name: "a cron macro", spec: schedule("@daily"), field: "backupPolicy.schedule", says: "five fields" },
  {
    name: "a cron schedule with seconds",
    spec: schedule("0 0 * * * *"),
    field: "backupPolicy.schedule",
    says: "five fields",
  },
  { name: "minute 60", spec: schedule("60 * * * *"), field: "backupPolicy.schedule", says: "minute (field 1" },
  { name: "hour 24", spec: schedule("0 24 * * *"), field: "backupPolicy.schedule", says: "hour (field 2" },
  { name: "day 0", spec: schedule("0 0 0 * *"), field: "backupPolicy.schedule", says: "day of the month (field 3" },
  { name: "month 13", spec: schedule("0 0 1 13 *"), field: "backupPolicy.schedule", says: "month (field 4" },
  { name: "weekday 8", spec: schedule("0 0 * * 8"), field: "backupPolicy.schedule", says: "day of the week (field 5" },
  {
    name: "a drill in words",
    spec: { backupPolicy: { schedule: "0 0 * * *", restoreDrill: { schedule: "weekly" } } },
    field: "backupPolicy.restoreDrill.schedule",
    says: "five fields",
  },
  {
    name: "a time zone with spaces",
    spec: { backupPolicy: { schedule: "0 0 * * *", timeZone: "my time" } },
    field: "backupPolicy.timeZone",
    says: "such as Etc/UTC",
  },
];
