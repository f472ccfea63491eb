/** Builds one image with whatever builder this machine has, into a docker-archive file. */
import { join } from "node:path";
import { installDebianPackages } from "../preflight.ts";
import { run, succeeds } from "../process/run.ts";
import { cacheRoot } from "../toolchain/manifest.ts";

export interface ImageRecipe {
  /** Full image name. */
  readonly image: string;
  readonly context: string;
  readonly dockerfile: string;
  readonly target?: string;
  readonly base?: string;
  /** Where the archive goes; none for an image that only others build on. */
  readonly archive?: string;
}

/** Builds images; all calls use the same store, so that one image can build on another. */
export interface ImageBuilder {
  readonly name: "docker" | "podman" | "buildah";
  readonly build: (recipe: ImageRecipe) => Promise<void>;
}

const buildTimeoutMs = 600_000;

const recipeArguments = (recipe: ImageRecipe): string[] => [
  ...(recipe.target === undefined ? [] : ["--target", recipe.target]),
  ...(recipe.base === undefined ? [] : ["--build-arg", `BASE=${recipe.base}`]),
  "--tag",
  recipe.image,
  "--file",
  recipe.dockerfile,
  recipe.context,
];

/** Docker or podman where an engine answers; else Debian's buildah, which needs none. */
export const findBuilder = async (progress: (message: string) => void): Promise<ImageBuilder> => {
  for (const name of ["docker", "podman"] as const) {
    if (await succeeds(name, ["info"], { timeoutMs: 10_000 })) return engineBuilder(name);
  }
  if (!(await succeeds("buildah", ["--version"]))) await installDebianPackages(["buildah", "runc"], progress);
  return buildahBuilder();
};

const engineBuilder = (name: "docker" | "podman"): ImageBuilder => ({
  name,
  build: async (recipe) => {
    await run(name, ["build", ...recipeArguments(recipe)], { timeoutMs: buildTimeoutMs });
    if (recipe.archive !== undefined)
      await run(name, ["save", "--output", recipe.archive, recipe.image], { timeoutMs: buildTimeoutMs });
  },
});

const buildahBuilder = (): ImageBuilder => {
  // A store of our own: nothing of the machine's images is touched, and it goes with the cache.
  const store = [
    "--root",
    join(cacheRoot(), "buildah"),
    "--runroot",
    join(cacheRoot(), "buildah-run"),
    "--storage-driver",
    "overlay",
  ];
  return {
    name: "buildah",
    build: async (recipe) => {
      const isolated = ["bud", "--isolation", "chroot", "--pull-never", "--layers"];
      await run("buildah", [...store, ...isolated, ...recipeArguments(recipe)], { timeoutMs: buildTimeoutMs });
      // Layers of earlier contents that no image is made of any more.
      await run("buildah", [...store, "rmi", "--prune"], { timeoutMs: buildTimeoutMs });
      if (recipe.archive === undefined) return;
      const archive = `docker-archive:${recipe.archive}:${recipe.image}`;
      await run("buildah", [...store, "push", recipe.image, archive], { timeoutMs: buildTimeoutMs });
    },
  };
};
