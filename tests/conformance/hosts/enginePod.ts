import { ports } from "../../../api/names.ts";
import type { Draft, Pod } from "../../../reconciler/kube/index.ts";
import { kitEnvironment, type Settings } from "./engineHost.ts";

export interface EnginePodSpec {
  readonly namespace: string;
  readonly name: string;
  /** Volume claim that holds the data. */
  readonly claim: string;
  readonly image: string;
  readonly helperImage: string;
  readonly settings: Settings;
}

export const engineContainer = "engine";
export const helperContainer = "helper";
export const configName = "config";
export const tokenName = "control";
const dataFolder = "/var/lib/engine";

/** In the helper: sends the signal argv[1] to every process of the engine. Only those have TE_INSTANCE_ID. */
export const signalProgram = `
  const { readdirSync, readFileSync } = require("node:fs");
  for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
    let env = "";
    try { env = readFileSync("/proc/" + pid + "/environ", "latin1"); } catch {}
    if (env.split("\\0").some((line) => line.startsWith("TE_INSTANCE_ID="))) process.kill(Number(pid), process.argv[1]);
  }`;

/** In the helper: changes one bit in the middle of the largest journal file. */
export const damageProgram = `
  const fs = require("node:fs");
  const folder = "${dataFolder}/data/journal";
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sized = files.map((entry) => entry.parentPath + "/" + entry.name).map((path) => ({ path, size: fs.statSync(path).size }));
  const { path, size } = sized.sort((a, b) => b.size - a.size)[0];
  const file = fs.openSync(path, "r+");
  const byte = Buffer.alloc(1);
  fs.readSync(file, byte, 0, 1, size >> 1);
  byte[0] ^= 1;
  fs.writeSync(file, byte, 0, 1, size >> 1);
  fs.fsyncSync(file);`;

/**
 * One process of the engine, never restarted by itself, beside a helper that sees its processes and its data: an image
 * that holds nothing but an engine has no program that could send a signal.
 */
export const enginePod = (spec: EnginePodSpec): Draft<Pod> => ({
  metadata: { namespace: spec.namespace, name: spec.name },
  spec: {
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    shareProcessNamespace: true,
    terminationGracePeriodSeconds: 1,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [
      {
        name: engineContainer,
        image: spec.image,
        imagePullPolicy: "IfNotPresent",
        env: environment(spec.settings),
        resources,
        securityContext: restricted,
        volumeMounts: [
          { name: "data", mountPath: dataFolder },
          { name: "config", mountPath: "/etc/engine/config", readOnly: true },
          { name: "control", mountPath: "/etc/engine/control", readOnly: true },
          { name: "tmp", mountPath: "/tmp" },
        ],
      },
      {
        name: helperContainer,
        image: spec.helperImage,
        imagePullPolicy: "IfNotPresent",
        command: ["node", "-e", "setInterval(() => undefined, 60_000)"],
        resources,
        securityContext: restricted,
        volumeMounts: [{ name: "data", mountPath: dataFolder }],
      },
    ],
    volumes: [
      { name: "data", persistentVolumeClaim: { claimName: spec.claim } },
      { name: "config", configMap: { name: configName } },
      { name: "control", secret: { secretName: tokenName, defaultMode: 0o440 } },
      { name: "tmp", emptyDir: { sizeLimit: "64Mi" } },
    ],
  },
});

const resources = { requests: { cpu: "10m", memory: "48Mi" }, limits: { memory: "512Mi" } };

const restricted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/** The variables of a start; those that are undefined are left out. */
const environment = ({ clusterUid, instance, env }: Settings): { name: string; value: string }[] => {
  const all: Readonly<Record<string, string | undefined>> = {
    ...kitEnvironment,
    TE_CLUSTER_UID: clusterUid,
    TE_INSTANCE_ID: instance,
    TE_DATA_DIR: `${dataFolder}/data`,
    TE_CONFIG_FILE: "/etc/engine/config/config.json",
    TE_TOKEN_FILE: "/etc/engine/control/token",
    TE_CONTROL_ADDR: `0.0.0.0:${ports.control}`,
    TE_ORDER_ADDR: `0.0.0.0:${ports.orders}`,
    TE_REPLICATION_ADDR: `0.0.0.0:${ports.replication}`,
    TE_FEED_ADDR: `0.0.0.0:${ports.feed}`,
    ...env,
  };
  return Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
};
