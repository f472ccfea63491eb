/** Where the API server is and how to prove who we are: from a kubeconfig, or from the Pod's own service account. */
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { type Clock, systemClock } from "./clock.ts";

/** TLS material of a new connection. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** What proves an identity at this moment. */
export interface Credentials {
  /** Sent with each request; holds `authorization` where a token or password is used. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

export interface ClusterAccess {
  /** Base URL; may have a path, behind a proxy. */
  readonly server: string;
  /** The namespace of the context or of the Pod. */
  readonly namespace: string | undefined;
  /**
   * The present credentials. Files and plugins behind them are asked again after a minute, and at once when `refused`
   * says that the last ones were answered by 401.
   */
  credentials(refused?: boolean): Promise<Credentials>;
}

export interface AccessOptions {
  /** A kubeconfig file; without it KUBECONFIG, the service account of the Pod, then ~/.kube/config. */
  readonly kubeconfig?: string;
  /** A context of the kubeconfig other than its current one. */
  readonly context?: string;
  readonly clock?: Clock;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where the Pod's service account is mounted. */
  readonly serviceAccountDir?: string;
}

/** Rotated tokens and CAs must take effect within their overlap; client-go re-reads at this pace too. */
const rereadMs = 60_000;
const defaultServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Finds the cluster. Throws with what to set when there is none to be found. */
export const loadClusterAccess = async (options: AccessOptions = {}): Promise<ClusterAccess> => {
  const env = options.env ?? process.env;
  const clock = options.clock ?? systemClock;
  const named = options.kubeconfig ?? env["KUBECONFIG"];
  const host = env["KUBERNETES_SERVICE_HOST"];
  if (named === undefined && options.context === undefined && host !== undefined) {
    const port = env["KUBERNETES_SERVICE_PORT"] ?? "443";
    return inClusterAccess(host, port, options.serviceAccountDir ?? defaultServiceAccountDir, clock);
  }
  return kubeconfigAccess(options, clock);
};

const inClusterAccess = async (host: string, port: string, dir: string, clock: Clock): Promise<ClusterAccess> => {
  const read = async (file: string) => (await readFile(`${dir}/${file}`, "utf8")).trim();
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: await read("namespace").catch(() => undefined),
    credentials: cached(clock, async () => ({
      headers: { authorization: `Bearer ${await read("token")}` },
      tls: { ca: await read("ca.crt") },
    })),
  };
};

const kubeconfigAccess = async (options: AccessOptions, clock: Clock): Promise<ClusterAccess> => {
  // Costs about a second and 70 MB to load, so only processes that read a kubeconfig pay for it.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  if (options.kubeconfig !== undefined) config.loadFromFile(options.kubeconfig);
  else config.loadFromDefault();
  if (options.context !== undefined) {
    if (config.getContextObject(options.context) === null) {
      const known = config.contexts.map((context) => context.name).join(", ");
      throw new Error(`kubeconfig has no context "${options.context}"; it has: ${known}`);
    }
    config.setCurrentContext(options.context);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new Error("no Kubernetes cluster found: set KUBECONFIG, pass a context, or run inside a cluster");
  }
  return {
    server: cluster.server.replace(/\/+$/, ""),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    credentials: cached(clock, async () => {
      const https: RequestOptions = {};
      await config.applyToHTTPSOptions(https);
      return credentialsOf(https);
    }),
  };
};

const credentialsOf = (https: RequestOptions): Credentials => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(https.headers ?? {})) {
    if (typeof value === "string") headers[name.toLowerCase()] = value;
  }
  if (typeof https.auth === "string") {
    headers["authorization"] = `Basic ${Buffer.from(https.auth).toString("base64")}`;
  }
  const { servername, rejectUnauthorized } = https;
  return {
    headers,
    tls: {
      ...pem("ca", https.ca),
      ...pem("cert", https.cert),
      ...pem("key", https.key),
      ...(servername === undefined ? {} : { servername }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    },
  };
};

const pem = (name: "ca" | "cert" | "key", value: unknown): Partial<Record<typeof name, string>> =>
  typeof value === "string" || Buffer.isBuffer(value) ? { [name]: value.toString() } : {};

/** Shares one load among all callers, and keeps the last good credentials while a reload fails. */
const cached = (clock: Clock, load: () => Promise<Credentials>): ClusterAccess["credentials"] => {
  let last: { readonly value: Credentials; readonly at: number } | undefined;
  let loading: Promise<Credentials> | undefined;
  const reload = async () => {
    try {
      const value = await load();
      last = { value, at: clock.now() };
      return value;
    } catch (error) {
      // A file in the middle of its rotation: the old credentials are usually still good.
      if (last !== undefined) return last.value;
      throw error;
    } finally {
      loading = undefined;
    }
  };
  return (refused = false) => {
    if (last !== undefined && !refused && clock.now() - last.at < rereadMs) return Promise.resolve(last.value);
    loading ??= reload();
    return loading;
  };
};
