/** What a machine must have before an embedded cluster is even begun; each lack in one line, with its cure. */
import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { type ClusterLayout, clustersRoot } from "./cluster/layout.ts";
import { run, succeeds } from "./process/run.ts";
import { cacheRoot } from "./toolchain/manifest.ts";

/** The machine lacks something; the message is for a person and needs no stack. */
export class PreflightError extends Error {
  override readonly name = "PreflightError";
}

/** Free bytes that a cluster with its images and volumes needs. */
const clusterDiskBytes = 6 * 2 ** 30;

/** Programs from Debian that a cluster needs, and the package of each. */
const programs: Readonly<Record<string, string>> = {
  containerd: "containerd",
  ctr: "containerd",
  runc: "runc",
  nft: "nftables",
  conntrack: "conntrack",
  ip: "iproute2",
  nsenter: "util-linux",
  openssl: "openssl",
  sysctl: "procps",
};
const cniPlugin = "/usr/lib/cni/ptp";

/**
 * The system, the rights, the disk and the programs.
 * @throws {PreflightError} for the first thing that is missing and can't be installed.
 */
export const requireMachine = async (progress: (message: string) => void): Promise<void> => {
  if (process.platform !== "linux")
    throw new PreflightError("the embedded cluster needs Linux: use --context NAME for a cluster of yours");
  if (process.getuid?.() !== 0) {
    throw new PreflightError(
      "the embedded cluster needs root (namespaces, cgroups): use sudo, or --context NAME for a cluster of yours",
    );
  }
  await requireDisk();
  await installPackages(progress);
};

const requireDisk = async (): Promise<void> => {
  for (const folder of [clustersRoot, cacheRoot()]) {
    const existing = existingParent(folder);
    const { bavail, bsize } = await statfs(existing);
    if (bavail * bsize >= clusterDiskBytes) continue;
    const free = (bavail * bsize) / 2 ** 30;
    throw new PreflightError(
      `${existing} has ${free.toFixed(1)} GiB free, ${clusterDiskBytes / 2 ** 30} GiB are needed: free some`,
    );
  }
};

const existingParent = (folder: string): string => {
  const parts = folder.split("/");
  while (parts.length > 1 && !existsSync(parts.join("/"))) parts.pop();
  return parts.join("/") || "/";
};

const installPackages = async (progress: (message: string) => void): Promise<void> => {
  const missing = new Set<string>();
  for (const [program, name] of Object.entries(programs)) {
    if (!(await succeeds("sh", ["-c", `command -v ${program}`]))) missing.add(name);
  }
  if (!existsSync(cniPlugin)) missing.add("containernetworking-plugins");
  if (missing.size === 0) return;
  await installDebianPackages([...missing], progress);
};

/**
 * Installs packages from Debian.
 * @throws {PreflightError} where there is no apt or no network.
 */
export const installDebianPackages = async (
  names: readonly string[],
  progress: (message: string) => void,
): Promise<void> => {
  progress(`installing ${names.join(", ")}`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "--no-install-recommends", ...names];
  try {
    if (await succeeds("apt-get", install, { env, timeoutMs: 600_000 })) return;
    await run("apt-get", ["update"], { env, timeoutMs: 300_000 });
    await run("apt-get", install, { env, timeoutMs: 600_000 });
  } catch {
    throw new PreflightError(`can't install ${names.join(", ")} with apt-get: install them, or check the network`);
  }
};

/**
 * The cluster listens on an address of its own; only a program on all addresses can be in its way.
 * @throws {PreflightError} for a port that something else holds.
 */
export const requirePorts = async (layout: ClusterLayout): Promise<void> => {
  const wanted: readonly (readonly [port: number, user: string])[] = [
    [layout.apiPort, "the API server"],
    [layout.etcdPort, "etcd"],
    [layout.etcdPeerPort, "etcd's peers"],
    [layout.dnsPort, "DNS"],
  ];
  for (const [port, user] of wanted) {
    if (await canListen(layout.address, port)) continue;
    throw new PreflightError(
      `port ${port} on ${layout.address} is taken, ${user} needs it: see "ss -ltnp sport = :${port}" for who holds it`,
    );
  }
};

/** Whether a listener on address:port is possible. An address that does not exist yet is tried on the wildcard's terms. */
const canListen = async (address: string, port: number): Promise<boolean> =>
  await new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRNOTAVAIL") resolve(canListen("127.0.0.99", port));
      else resolve(error.code !== "EADDRINUSE");
    });
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
