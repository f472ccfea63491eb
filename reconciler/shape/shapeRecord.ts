/** What the last successful run left, so that nothing is run while that is still so. */
import { canonicalJson } from "./contentHash.ts";
import type { ShapeResult } from "./shapeResult.ts";

export interface ShapeRecord {
  /** Hash of everything the run built the engine of. */
  readonly wanted: string;
  /** Hash of the fields that we own in each child, by `Kind/name`, as they were after it. */
  readonly children: Readonly<Record<string, string>>;
  /** How the last run that changed the record ended, for a daemon that starts anew. */
  readonly result: ShapeResult;
}

/** Reads a record; `undefined` when there is none that can be used, which only costs a run. */
export const parseRecord = (text: string | undefined): ShapeRecord | undefined => {
  if (text === undefined) return undefined;
  try {
    const parsed = JSON.parse(text) as Partial<ShapeRecord> | null;
    if (typeof parsed?.wanted !== "string" || typeof parsed.children !== "object") return undefined;
    if (typeof parsed.result !== "object") return undefined;
    return { wanted: parsed.wanted, children: parsed.children, result: parsed.result };
  } catch {
    return undefined;
  }
};

/** Whether two records say the same of the engine. A run that changed nothing is not worth a write to say so. */
export const sameRecord = (a: ShapeRecord | undefined, b: ShapeRecord | undefined): boolean =>
  a?.wanted === b?.wanted && canonicalJson(a?.children) === canonicalJson(b?.children);

/** Children that are not as the record says: gone, or with other values in the fields that we own. */
export const differingChildren = (
  record: Pick<ShapeRecord, "children">,
  observed: Readonly<Record<string, string>>,
): readonly string[] =>
  Object.entries(record.children)
    .filter(([child, hash]) => observed[child] !== hash)
    .map(([child]) => child);
