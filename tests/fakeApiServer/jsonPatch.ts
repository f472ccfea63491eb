/** JSON Patch (RFC 6902) on objects, as far as this product sends it: test, add, replace and remove of members. */
import { isDeepStrictEqual } from "node:util";

export interface Operation {
  readonly op: "test" | "add" | "replace" | "remove";
  /** JSON pointer. */
  readonly path: string;
  readonly value?: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** The patched object; undefined when a test fails or a member to be changed is not there, as the API server's 422. */
export const applyJsonPatch = (object: unknown, operations: readonly Operation[]): unknown =>
  operations.reduce<unknown>(
    (patched, operation) => (patched === undefined ? undefined : applyAt(patched, partsOf(operation.path), operation)),
    object,
  );

const partsOf = (pointer: string): readonly string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

const applyAt = (target: unknown, [part, ...rest]: readonly string[], operation: Operation): unknown => {
  if (part === undefined || typeof target !== "object" || target === null) return undefined;
  const members = target as Members;
  if (rest.length > 0) {
    const inner = applyAt(members[part], rest, operation);
    return inner === undefined ? undefined : { ...members, [part]: inner };
  }
  switch (operation.op) {
    case "test":
      return isDeepStrictEqual(members[part], operation.value) ? members : undefined;
    case "add":
      return { ...members, [part]: operation.value };
    case "replace":
      return part in members ? { ...members, [part]: operation.value } : undefined;
    case "remove":
      if (!(part in members)) return undefined;
      return Object.fromEntries(Object.entries(members).filter(([name]) => name !== part));
  }
};
