import { type EpochTable, parseEpochEntries } from "../journal/epochTable.ts";
import { type Manifest, parseManifest } from "../snapshots/manifest.ts";

/** First message of a standby: who asks, which epoch it was told to follow, and what it holds. */
export interface Hello {
  readonly token: string;
  readonly clusterUid: string;
  readonly instance: string;
  readonly epoch: number;
  readonly promised: number;
  readonly history: EpochTable;
}

/** The primary's agreement: everything after `commonEnd` that the standby holds is to be cut. */
export interface Welcome {
  readonly instance: string;
  readonly epoch: number;
  readonly commonEnd: number;
  /** The journal does not reach back to `commonEnd`: this snapshot must be fetched first. */
  readonly snapshot?: Manifest;
}

export interface Refused {
  readonly code: "UNAUTHORIZED" | "WRONG_CLUSTER" | "NOT_PRIMARY" | "WRONG_EPOCH" | "STALE_EPOCH" | "NEED_SNAPSHOT";
  readonly detail: string;
}

/** Null when `body` is not a hello. */
export const parseHello = (body: unknown): Hello | null => {
  const fields = fieldsOf(body);
  const token = fields.get("token");
  const clusterUid = fields.get("clusterUid");
  const instance = fields.get("instance");
  const epoch = fields.get("epoch");
  const promised = fields.get("promised");
  const history = parseHistory(fields.get("history"));
  if (typeof token !== "string" || typeof clusterUid !== "string" || typeof instance !== "string") return null;
  if (!isCount(epoch) || !isCount(promised) || history === null) return null;
  return { token, clusterUid, instance, epoch, promised, history };
};

/** Null when `body` is not a welcome. */
export const parseWelcome = (body: unknown): Welcome | null => {
  const fields = fieldsOf(body);
  const instance = fields.get("instance");
  const epoch = fields.get("epoch");
  const commonEnd = fields.get("commonEnd");
  if (typeof instance !== "string" || !isCount(epoch) || !isCount(commonEnd)) return null;
  if (!fields.has("snapshot")) return { instance, epoch, commonEnd };
  const snapshot = parseManifest(fields.get("snapshot"));
  return snapshot === null ? null : { instance, epoch, commonEnd, snapshot };
};

/** What a refusal says, for people. */
export const describeRefusal = (body: unknown): string => {
  const fields = fieldsOf(body);
  return `${String(fields.get("code"))}: ${String(fields.get("detail"))}`;
};

const parseHistory = (value: unknown): EpochTable | null => {
  const fields = fieldsOf(value);
  const end = fields.get("end");
  const entries = parseEpochEntries(fields.get("entries"));
  return isCount(end) && entries !== null ? { entries, end } : null;
};

const fieldsOf = (value: unknown): Map<string, unknown> =>
  new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
