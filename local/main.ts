/** Command line of the embedded cluster. `demo` and `test` use the same functions. */
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { clusterDown, isRunning } from "./cluster/cluster.ts";
import { type ClusterName, clusterLayout, clusterNumbers } from "./cluster/layout.ts";
import { allTools, embeddedUp } from "./embedded.ts";
import { buildImages } from "./images/build.ts";
import { PreflightError } from "./preflight.ts";
import { ensureTools, ToolchainError } from "./toolchain/ensure.ts";
import { toolPath } from "./toolchain/manifest.ts";

const usage = `usage: node local/main.ts COMMAND [--cluster dev|test]

  up        start the embedded cluster, building tools and images where they are missing
  down      remove every trace of it
  status    say whether it runs; exit 0 if so, 1 if not
  tools     only find, download or build the tools
  images    only build the images; prints the archive of each
  env       print shell lines that put kubectl, pulumi and the kubeconfig in your hands
`;

const repository = dirname(import.meta.dirname);
const say = (message: string): void => {
  process.stderr.write(`${message}\n`);
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { cluster: { type: "string", default: "dev" }, help: { type: "boolean", short: "h", default: false } },
  });
  const [command] = positionals;
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (!Object.hasOwn(clusterNumbers, values.cluster)) {
    say(`there is no cluster ${values.cluster}: use ${Object.keys(clusterNumbers).join(" or ")}`);
    return 64;
  }
  const layout = clusterLayout(values.cluster as ClusterName);
  switch (command) {
    case "up":
      await embeddedUp(repository, layout, say);
      return 0;
    case "down":
      await clusterDown(layout);
      return 0;
    case "status": {
      const running = isRunning(layout);
      process.stdout.write(running ? `running: KUBECONFIG=${layout.kubeconfig}\n` : "not running\n");
      return running ? 0 : 1;
    }
    case "tools":
      await ensureTools(allTools, say);
      return 0;
    case "images":
      await ensureTools(allTools, say);
      for (const image of await buildImages(repository, say)) process.stdout.write(`${image.name} ${image.file}\n`);
      return 0;
    case "env":
      process.stdout.write(
        `export KUBECONFIG=${layout.kubeconfig}\nexport PATH=${dirname(toolPath("kubectl"))}:${dirname(toolPath("pulumi"))}:$PATH\n`,
      );
      return 0;
    default:
      process.stderr.write(usage);
      return 64;
  }
};

try {
  process.exitCode = await main();
} catch (error) {
  const expected = error instanceof PreflightError || error instanceof ToolchainError;
  say(expected ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
}
