/** etcd, API server, controller manager, scheduler and DNS: ordinary processes on the host's end of the bridge. */

import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { daemonLog, daemonPid, startDaemon } from "../process/daemon.ts";
import { toolPath } from "../toolchain/manifest.ts";
import { kubeconfigOf } from "./certificates.ts";
import type { ClusterLayout } from "./layout.ts";
import { waitReady } from "./ready.ts";

/** Starts what is not running, and waits until the API server answers /readyz. */
export const startControlPlane = async (layout: ClusterLayout): Promise<void> => {
  const pki = (file: string): string => join(layout.pki, file);
  await mkdir(join(layout.folder, "etcd"), { recursive: true, mode: 0o700 });
  ensureDaemon(layout, "etcd", toolPath("etcd"), [
    `--data-dir=${join(layout.folder, "etcd")}`,
    `--listen-client-urls=http://${layout.address}:${layout.etcdPort}`,
    `--advertise-client-urls=http://${layout.address}:${layout.etcdPort}`,
    `--listen-peer-urls=http://${layout.address}:${layout.etcdPeerPort}`,
    `--initial-advertise-peer-urls=http://${layout.address}:${layout.etcdPeerPort}`,
    `--initial-cluster=default=http://${layout.address}:${layout.etcdPeerPort}`,
    "--log-level=warn",
  ]);
  ensureDaemon(layout, "kube-apiserver", toolPath("kube-apiserver"), [
    `--etcd-servers=http://${layout.address}:${layout.etcdPort}`,
    `--bind-address=${layout.address}`,
    `--advertise-address=${layout.address}`,
    `--secure-port=${layout.apiPort}`,
    `--service-cluster-ip-range=${layout.serviceCidr}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--allow-privileged=true",
    `--client-ca-file=${pki("ca.crt")}`,
    `--tls-cert-file=${pki("apiserver.crt")}`,
    `--tls-private-key-file=${pki("apiserver.key")}`,
    `--kubelet-client-certificate=${pki("kubelet-client.crt")}`,
    `--kubelet-client-key=${pki("kubelet-client.key")}`,
    "--kubelet-preferred-address-types=InternalIP",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${pki("service-account.pub")}`,
    `--service-account-signing-key-file=${pki("service-account.key")}`,
    // One server on one machine: the profile and the event copies of a large cluster only cost memory here.
    "--profiling=false",
    "--event-ttl=1h",
  ]);
  await waitReady("the API server", 90_000, async () => {
    for (const name of ["etcd", "kube-apiserver"]) {
      if (daemonPid(layout, name) === null) return `${name} ended:\n${daemonLog(layout, name)}`;
    }
    return await probeReadyz(layout);
  });
  ensureDaemon(layout, "kube-controller-manager", toolPath("kube-controller-manager"), [
    `--kubeconfig=${kubeconfigOf(layout, "controller-manager")}`,
    `--root-ca-file=${pki("ca.crt")}`,
    `--service-account-private-key-file=${pki("service-account.key")}`,
    "--use-service-account-credentials=true",
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    "--secure-port=0",
    `--cluster-cidr=${layout.prefix}`,
    "--allocate-node-cidrs=false",
    `--service-cluster-ip-range=${layout.serviceCidr}`,
  ]);
  ensureDaemon(layout, "kube-scheduler", toolPath("kube-scheduler"), [
    `--kubeconfig=${kubeconfigOf(layout, "scheduler")}`,
    `--authentication-kubeconfig=${kubeconfigOf(layout, "scheduler")}`,
    `--authorization-kubeconfig=${kubeconfigOf(layout, "scheduler")}`,
    "--leader-elect=false",
    "--secure-port=0",
  ]);
  await writeFile(join(layout.folder, "Corefile"), corefile(layout));
  ensureDaemon(layout, "coredns", toolPath("coredns"), ["-conf", join(layout.folder, "Corefile")]);
};

/** DNS runs beside the API server and not in a pod: a cluster of three nodes on two cores starts faster without one. */
const corefile = (layout: ClusterLayout): string => `.:${layout.dnsPort} {
  bind ${layout.address}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfigOf(layout, "dns")} enginekeeper-${layout.name}
    pods insecure
    ttl 1
  }
  cache 1 {
    disable success cluster.local
    disable denial cluster.local
  }
}
`;

const ensureDaemon = (layout: ClusterLayout, name: string, command: string, args: readonly string[]): void => {
  if (daemonPid(layout, name) === null) startDaemon(layout, name, command, args);
};

/** Null when /readyz answers ok. */
const probeReadyz = async (layout: ClusterLayout): Promise<string | null> =>
  await new Promise((resolve) => {
    const call = request(
      `${layout.apiServer}/readyz`,
      {
        ca: readFileSync(join(layout.pki, "ca.crt")),
        cert: readFileSync(join(layout.pki, "admin.crt")),
        key: readFileSync(join(layout.pki, "admin.key")),
        timeout: 2_000,
        agent: false,
      },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200 ? null : `/readyz answers ${response.statusCode ?? "nothing"}`);
      },
    );
    call.on("timeout", () => call.destroy(new Error("no answer within 2 s")));
    call.on("error", (error) => resolve(error.message));
    call.end();
  });
