import { type EpochEntry, type HistoryBase, parseEpochEntries } from "../journal/epochTable.ts";

/** The format of a snapshot's file: see snapshotFile.ts. */
export const snapshotFormat = 1;

/** What a snapshot is of. Its file holds the state right after record `seq`. */
export interface Manifest {
  readonly epoch: number;
  readonly seq: number;
  /** State hash at `seq`, the same on every replica. */
  readonly hash: string;
  /** Length and SHA-256 of the file. */
  readonly bytes: number;
  readonly sha256: string;
  readonly formats: { readonly snapshot: number };
  readonly build: string;
  /** Epochs up to `seq`. */
  readonly epochTable: readonly EpochEntry[];
}

/** Names a snapshot, in paths and in the API. */
export const idOf = ({ epoch, seq }: Pick<Manifest, "epoch" | "seq">): string => `${epoch}-${seq}`;

/** The history that continues behind a snapshot. */
export const baseOf = ({ epoch, seq, epochTable }: Manifest): HistoryBase => ({
  position: { epoch, seq },
  epochs: epochTable,
});

/** Null when `value` is not a manifest. A later format still is one: it can be listed and copied, but not loaded. */
export const parseManifest = (value: unknown): Manifest | null => {
  const fields = new Map<string, unknown>(typeof value === "object" && value !== null ? Object.entries(value) : []);
  const [epoch, seq, bytes] = ["epoch", "seq", "bytes"].map((name) => fields.get(name));
  const [hash, sha256, build] = ["hash", "sha256", "build"].map((name) => fields.get(name));
  const epochTable = parseEpochEntries(fields.get("epochTable"));
  const formats = fields.get("formats");
  const snapshot = typeof formats === "object" && formats !== null && "snapshot" in formats ? formats.snapshot : null;
  if (!isCount(epoch) || !isCount(seq) || !isCount(bytes) || !isCount(snapshot) || epochTable === null) return null;
  if (typeof hash !== "string" || typeof build !== "string") return null;
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) return null;
  return { epoch, seq, hash, bytes, sha256, formats: { snapshot }, build, epochTable };
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
