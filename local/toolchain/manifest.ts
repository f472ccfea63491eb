/**
 * The tools that the embedded cluster and Pulumi need, and where a build of each is kept:
 * data only. A tool's version is part of its folder, so two checkouts never disturb each other.
 */
import { homedir } from "node:os";
import { join } from "node:path";

const kubernetesVersion = "v1.36.3";
const componentVersion = "k8s.io/component-base/version";
const pulumiVersionVariable = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version";

/** The API server reports v0.0.0, and refuses some clients, unless its version is set at link time. */
const kubernetesLink = [
  `-X ${componentVersion}.gitVersion=${kubernetesVersion}`,
  `-X ${componentVersion}.gitMajor=1`,
  `-X ${componentVersion}.gitMinor=36`,
  `-X ${componentVersion}.gitTreeState=clean`,
].join(" ");

/** How one tool is named, versioned and built from Go modules. */
export interface Tool {
  readonly name: ToolName;
  readonly version: string;
  /** Folder under go/ whose go.mod pins the tool and all that it is built of. */
  readonly module: string;
  readonly package: string;
  /** Linker flags that set the version. */
  readonly link: string;
  /** Arguments that make the tool print its version, to judge a copy found on PATH; null = never taken from PATH. */
  readonly versionArguments: readonly string[] | null;
  /** Where the publisher offers this build, if anywhere that a plain download reaches. */
  readonly download: string | null;
  /** Files that are copied beside the main package from a module before the build. */
  readonly assets: { readonly module: string; readonly files: readonly string[] } | null;
}

const kubernetesTool = (name: ToolName): Tool => ({
  name,
  version: kubernetesVersion,
  module: "kubernetes",
  package: `k8s.io/kubernetes/cmd/${name}`,
  link: kubernetesLink,
  versionArguments: name === "kubectl" ? ["version", "--client=true"] : ["--version"],
  download: `https://dl.k8s.io/${kubernetesVersion}/bin/linux/amd64/${name}`,
  assets: null,
});

export type ToolName =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kubelet"
  | "kube-proxy"
  | "kubectl"
  | "coredns"
  | "pause"
  | "pulumi"
  | "pulumi-language-nodejs"
  | "pulumi-resource-kubernetes";

export const tools: Readonly<Record<ToolName, Tool>> = {
  etcd: {
    name: "etcd",
    version: "v3.6.8",
    module: "kubernetes",
    package: "go.etcd.io/etcd/server/v3",
    link: "",
    versionArguments: ["--version"],
    download: null,
    assets: null,
  },
  "kube-apiserver": kubernetesTool("kube-apiserver"),
  "kube-controller-manager": kubernetesTool("kube-controller-manager"),
  "kube-scheduler": kubernetesTool("kube-scheduler"),
  kubelet: kubernetesTool("kubelet"),
  "kube-proxy": kubernetesTool("kube-proxy"),
  kubectl: kubernetesTool("kubectl"),
  coredns: {
    name: "coredns",
    version: "v1.15.0",
    module: "coredns",
    package: "github.com/coredns/coredns",
    link: "",
    versionArguments: null,
    download: null,
    assets: null,
  },
  pause: {
    name: "pause",
    version: "v1",
    module: "pause",
    package: ".",
    link: "",
    versionArguments: null,
    download: null,
    assets: null,
  },
  pulumi: {
    name: "pulumi",
    version: "v3.274.1",
    module: "pulumi",
    package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    link: `-X ${pulumiVersionVariable}=v3.274.1`,
    versionArguments: ["version"],
    download: null,
    assets: null,
  },
  "pulumi-language-nodejs": {
    name: "pulumi-language-nodejs",
    version: "v3.68.0",
    module: "language-nodejs",
    package: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
    link: `-X ${pulumiVersionVariable}=v3.68.0`,
    versionArguments: null,
    download: null,
    assets: null,
  },
  "pulumi-resource-kubernetes": {
    name: "pulumi-resource-kubernetes",
    version: "v4.25.0",
    module: "provider-kubernetes",
    package: ".",
    link: "-X main.version=4.25.0",
    versionArguments: null,
    download: null,
    assets: {
      module: "github.com/pulumi/pulumi-kubernetes/provider/v4",
      files: ["cmd/pulumi-resource-kubernetes/schema.json", "cmd/pulumi-resource-kubernetes/terraform-mapping.json"],
    },
  },
};

/** Root of what is kept between runs, outside any checkout. */
export const cacheRoot = (env: NodeJS.ProcessEnv = process.env): string =>
  env["ENGINEKEEPER_CACHE"] ?? join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "enginekeeper");

/** Folder of a built tool: one for each project version. */
export const toolFolder = (tool: Tool, env: NodeJS.ProcessEnv = process.env): string =>
  join(
    cacheRoot(env),
    "tools",
    `${tool.module === "kubernetes" && tool.name !== "etcd" ? "kubernetes" : tool.name}-${tool.version}`,
  );

/** Path of a built tool; it need not exist yet. */
export const toolPath = (name: ToolName, env: NodeJS.ProcessEnv = process.env): string =>
  join(toolFolder(tools[name], env), name);
