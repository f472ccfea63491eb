/** The cluster's certificate authority, certificates and kubeconfigs, made with openssl. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../process/run.ts";
import type { ClusterLayout } from "./layout.ts";

interface Subject {
  readonly file: string;
  readonly commonName: string;
  readonly organization?: string;
  /** Subject alternative names of a server, in openssl's form; none for a client. */
  readonly names?: readonly string[];
}

/** Every certificate of a cluster. Users and groups are the ones that Kubernetes' default RBAC knows. */
const subjects = (layout: ClusterLayout): readonly Subject[] => [
  {
    file: "apiserver",
    commonName: "kube-apiserver",
    names: [
      "DNS:kubernetes",
      "DNS:kubernetes.default",
      "DNS:kubernetes.default.svc",
      "DNS:kubernetes.default.svc.cluster.local",
      "DNS:localhost",
      `IP:${layout.address}`,
      `IP:${layout.apiServiceAddress}`,
      "IP:127.0.0.1",
    ],
  },
  { file: "kubelet-client", commonName: "kube-apiserver-kubelet-client", organization: "system:masters" },
  { file: "admin", commonName: "enginekeeper-admin", organization: "system:masters" },
  { file: "controller-manager", commonName: "system:kube-controller-manager" },
  { file: "scheduler", commonName: "system:kube-scheduler" },
  { file: "proxy", commonName: "system:kube-proxy" },
  { file: "dns", commonName: "system:coredns" },
  ...layout.nodes.map((node) => ({
    file: node.name,
    commonName: `system:node:${node.name}`,
    organization: "system:nodes",
  })),
];

/** Makes what is missing; a second call changes nothing. */
export const ensureCertificates = async (layout: ClusterLayout): Promise<void> => {
  await mkdir(layout.pki, { recursive: true, mode: 0o700 });
  const at = (file: string): string => join(layout.pki, file);
  if (!existsSync(at("ca.crt"))) {
    await openssl(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", at("ca.key")]);
    await openssl([
      "req",
      "-x509",
      "-new",
      "-key",
      at("ca.key"),
      "-days",
      "3650",
      "-subj",
      "/CN=enginekeeper-local",
      "-out",
      at("ca.crt"),
    ]);
  }
  if (!existsSync(at("service-account.key"))) {
    await openssl(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", at("service-account.key")]);
    await openssl(["ec", "-in", at("service-account.key"), "-pubout", "-out", at("service-account.pub")]);
  }
  for (const subject of subjects(layout)) {
    if (existsSync(at(`${subject.file}.crt`))) continue;
    const usage = subject.names === undefined ? "clientAuth" : "serverAuth";
    const extensions = [
      `extendedKeyUsage=${usage}`,
      "keyUsage=digitalSignature",
      ...(subject.names === undefined ? [] : [`subjectAltName=${subject.names.join(",")}`]),
    ];
    await writeFile(at(`${subject.file}.ext`), `${extensions.join("\n")}\n`);
    const organization = subject.organization === undefined ? "" : `/O=${subject.organization}`;
    await openssl(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", at(`${subject.file}.key`)]);
    await openssl([
      "req",
      "-new",
      "-key",
      at(`${subject.file}.key`),
      "-subj",
      `${organization}/CN=${subject.commonName}`,
      "-out",
      at(`${subject.file}.csr`),
    ]);
    await openssl([
      "x509",
      "-req",
      "-in",
      at(`${subject.file}.csr`),
      "-CA",
      at("ca.crt"),
      "-CAkey",
      at("ca.key"),
      "-CAcreateserial",
      "-days",
      "3650",
      "-extfile",
      at(`${subject.file}.ext`),
      "-out",
      at(`${subject.file}.crt`),
    ]);
  }
  await writeFile(layout.kubeconfig, await kubeconfig(layout, "admin"), { mode: 0o600 });
  for (const user of ["controller-manager", "scheduler", "proxy", "dns", ...layout.nodes.map((node) => node.name)]) {
    await writeFile(kubeconfigOf(layout, user), await kubeconfig(layout, user), { mode: 0o600 });
  }
};

/** Path of the kubeconfig of one of the cluster's own users. */
export const kubeconfigOf = (layout: ClusterLayout, user: string): string => join(layout.pki, `${user}.kubeconfig`);

const kubeconfig = async (layout: ClusterLayout, user: string): Promise<string> => {
  const base64 = async (file: string): Promise<string> => (await readFile(join(layout.pki, file))).toString("base64");
  const name = `enginekeeper-${layout.name}`;
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server: layout.apiServer, "certificate-authority-data": await base64("ca.crt") } }],
      users: [
        {
          name: user,
          user: {
            "client-certificate-data": await base64(`${user}.crt`),
            "client-key-data": await base64(`${user}.key`),
          },
        },
      ],
      contexts: [{ name, context: { cluster: name, user } }],
      "current-context": name,
    },
    null,
    2,
  );
};

const openssl = async (args: readonly string[]): Promise<void> => {
  await run("openssl", args, { timeoutMs: 30_000 });
};
