import { createHash } from "node:crypto";

/**
 * JSON with the keys of every object in order, so that equal content gives equal text. Fields that are `undefined` are
 * left out, as JSON does; `undefined` itself counts as null.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(value ?? null, sortKeys);

const sortKeys = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** 96 bits: short enough to keep one for each child in an annotation, long enough never to collide by accident. */
export const contentHash = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("base64url").slice(0, 16);
