import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * A name for the code that runs: the same for the same sources, another for any other. An image tag may be moved to
 * other code; this cannot.
 */
export const sourceBuild = (dir = fileURLToPath(new URL("..", import.meta.url))): string => {
  const digest = createHash("sha256");
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" });
  for (const name of names.filter((path) => path.endsWith(".ts")).sort()) {
    digest.update(`${name}\0`).update(readFileSync(join(dir, name)));
  }
  return `source-${digest.digest("hex").slice(0, 16)}`;
};
