import { createHash } from "node:crypto";

/** The project of all engines' stacks. */
export const stackProject = "enginekeeper-engines";

/** Longest stack name that Pulumi takes. */
const longest = 100;

/**
 * Name of an engine's stack: `<namespace>.<name>`, with the tail hashed where that is too long. Neither part of a
 * Kubernetes name pair can make two pairs collide, because a namespace holds no dot.
 */
export const stackNameOf = (namespace: string, engine: string): string => {
  const plain = `${namespace}.${engine}`;
  if (plain.length <= longest) return plain;
  const tail = createHash("sha256").update(plain).digest("hex").slice(0, 16);
  return `${plain.slice(0, longest - tail.length - 1)}-${tail}`;
};
