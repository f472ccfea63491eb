/** Picks the npm packages that a program needs out of an installed node_modules, without what only a developer reads. */
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface PackageManifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** `roots` and everything they depend on, as paths relative to node_modules. */
export const packageClosure = (nodeModules: string, roots: readonly string[]): string[] => {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const path = resolvePackage(nodeModules, name, from);
    if (path === null || found.has(path)) return;
    found.add(path);
    const manifest = JSON.parse(readFileSync(join(nodeModules, path, "package.json"), "utf8")) as PackageManifest;
    for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
      visit(dependency, path);
  };
  for (const root of roots) visit(root, "");
  // A nested copy travels with the package that holds it.
  return [...found].filter((path) => !path.includes("/node_modules/")).sort();
};

/** Node's lookup: the nearest node_modules above the package that asks. Null for an optional one that is not installed. */
const resolvePackage = (nodeModules: string, name: string, from: string): string | null => {
  for (
    let place = from;
    place !== "";
    place = place.includes("/node_modules/") ? place.slice(0, place.lastIndexOf("/node_modules/")) : ""
  ) {
    const nested = `${place}/node_modules/${name}`;
    if (existsSync(join(nodeModules, nested, "package.json"))) return nested;
  }
  return existsSync(join(nodeModules, name, "package.json")) ? name : null;
};

/** Types, source maps and documents: two thirds of the bytes, never read at run time. */
const unneeded = /\.(d\.[cm]?ts|[cm]?js\.map|ts\.map|md|markdown)$|\/(test|tests|docs|example|examples|\.github)$/i;

/** Copies the closure of `roots` to `target`. */
export const copyPackages = (nodeModules: string, roots: readonly string[], target: string): void => {
  for (const path of packageClosure(nodeModules, roots)) {
    cpSync(join(nodeModules, path), join(target, path), {
      recursive: true,
      dereference: false,
      filter: (source) => !unneeded.test(source.slice(nodeModules.length)),
    });
  }
};
