/**
 * What an update must never do to a trading engine: replace or delete its StatefulSet, which kills every replica at
 * once, or a volume, which holds acknowledged orders. Both are protected in the stack, so Pulumi stops before such a
 * step; here that is told apart from other failures.
 */

/** Pulumi's words for a step that a protected resource forbids. */
const protection =
  /unable to replace resource "([^"]+)"|resource "([^"]+)" cannot be deleted\s+because it is protected/;

/** What was refused and what to do about it; `undefined` when the errors say something else. */
export const refusalOf = (errors: readonly string[]): string | undefined => {
  const resources = errors.flatMap(protectedUrn).map(resourceOfUrn);
  if (resources.length === 0) return undefined;
  return (
    `the update would replace or delete ${[...new Set(resources)].join(", ")}, so it was not run: ` +
    "that would take every replica or its orders down; undo the change, or restore a backup into a new TradingEngine"
  );
};

const protectedUrn = (error: string): readonly string[] => {
  const match = protection.exec(error);
  const urn = match?.[1] ?? match?.[2];
  return urn === undefined ? [] : [urn];
};

const resourceOfUrn = (urn: string): string => {
  const [, , type = "", name = ""] = urn.split("::");
  return `${type.split(":").at(-1) ?? type}/${name}`;
};
