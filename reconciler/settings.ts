/** What the environment says, checked before anything starts. */
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

const namespace = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "is no namespace name: use small letters, digits and hyphens");

const wholeNumber = (from: number, to: number) =>
  z.coerce.number(`must be a number from ${from} to ${to}`).int().min(from).max(to);

const port = wholeNumber(0, 65_535);

const environment = z.object({
  EK_NAMESPACES: z
    .string("must name the namespaces that hold TradingEngines, separated by commas, such as trading")
    .transform((list) => list.split(",").map((name) => name.trim()))
    .pipe(z.array(namespace).min(1)),
  EK_NAMESPACE: namespace.default("enginekeeper-system"),
  EK_POD_NAME: z.string().min(1).optional(),
  EK_KUBECONFIG: z.string().min(1).optional(),
  EK_METRICS_PORT: port.default(8080),
  EK_HEALTH_PORT: port.default(8081),
  EK_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error"]).default("info"),
  EK_PULUMI_FOLDER: z.string().min(1).optional(),
  EK_PLUGINS_FOLDER: z.string().min(1).optional(),
  PULUMI_HOME: z.string().min(1).optional(),
  EK_SCRATCH: z.string().min(1).optional(),
  EK_UP_CONCURRENCY: wholeNumber(1, 64).default(2),
  EK_UP_DEADLINE_SECONDS: wholeNumber(10, 3_600).default(300),
});

export interface Settings {
  /** Namespaces whose engines are looked after. */
  readonly namespaces: readonly string[];
  /** The reconciler's own. */
  readonly ownNamespace: string;
  /** Unique to this process: names it in the Lease and in Events. */
  readonly identity: string;
  readonly kubeconfig: string | undefined;
  readonly metricsPort: number;
  readonly healthPort: number;
  readonly logLevel: string;
  /** Folder of the Pulumi CLI; undefined = on PATH. */
  readonly pulumiFolder: string | undefined;
  readonly pluginsFolder: string;
  readonly scratch: string;
  readonly upConcurrency: number;
  readonly upDeadlineMs: number;
}

/** Where the image keeps what Pulumi needs. */
const defaultPulumiHome = "/opt/pulumi";

/** @throws {Error} that names every variable that is missing or wrong, and what it must be. */
export function readSettings(env: Readonly<Record<string, string | undefined>>, processId: number): Settings {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path: [variable], message }) => `${String(variable)}: ${message}`);
    throw new Error(`the environment is not complete: ${problems.join("; ")}`);
  }
  const values = parsed.data;
  const identity = values.EK_POD_NAME ?? `${hostname()}-${processId}`;
  return {
    namespaces: [...new Set(values.EK_NAMESPACES)],
    ownNamespace: values.EK_NAMESPACE,
    identity,
    kubeconfig: values.EK_KUBECONFIG,
    metricsPort: values.EK_METRICS_PORT,
    healthPort: values.EK_HEALTH_PORT,
    logLevel: values.EK_LOG_LEVEL,
    pulumiFolder: values.EK_PULUMI_FOLDER,
    pluginsFolder: values.EK_PLUGINS_FOLDER ?? join(values.PULUMI_HOME ?? defaultPulumiHome, "plugins"),
    scratch: values.EK_SCRATCH ?? join(tmpdir(), `enginekeeper-${identity}`),
    upConcurrency: values.EK_UP_CONCURRENCY,
    upDeadlineMs: values.EK_UP_DEADLINE_SECONDS * 1000,
  };
}
