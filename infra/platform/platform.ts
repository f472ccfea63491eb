import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { PlatformConfig } from "./config.ts";
import { tradingEngineDefinition } from "./crd.ts";
import { deployment, metricsService, operatorAccount, operatorBudget, passphraseSecret } from "./daemon.ts";
import { restrictedNamespace } from "./namespaces.ts";
import { clusterRole, clusterRoleBinding, engineRules, ownRules, role, roleBinding } from "./rbac.ts";

/** Longer than pulling the image takes; a daemon that is not ready by then has a fault that waiting does not cure. */
const daemonStart = "5m";

/**
 * The operator's own install: what users may say (the CRD), where engines may run (namespaces)
 * and what keeps them true (the daemon, with no more rights than it needs).
 *
 * What engines depend on outlives the platform: the CRD, whose deletion would delete every
 * TradingEngine, and the namespaces, which hold the volumes.
 */
export class Platform extends pulumi.ComponentResource {
  /** Name of the CustomResourceDefinition. */
  readonly crd: pulumi.Output<string>;
  /** Name of the daemon's Deployment, known once its replicas are ready. */
  readonly deployment: pulumi.Output<string>;

  constructor(name: string, config: PlatformConfig, opts?: pulumi.ComponentResourceOptions) {
    const { operatorNamespace, namespaces } = config;
    super("enginekeeper:index:Platform", name, { operatorNamespace, namespaces }, opts);
    const child = { parent: this };
    const kept = { ...child, retainOnDelete: true };

    const crd = new k8s.apiextensions.v1.CustomResourceDefinition(
      `${name}-tradingengines`,
      tradingEngineDefinition(),
      kept,
    );
    const home = new k8s.core.v1.Namespace(`${name}-operator`, restrictedNamespace(operatorNamespace), child);
    const inHome = { ...child, dependsOn: [home] };
    const account = new k8s.core.v1.ServiceAccount(`${name}-account`, operatorAccount(operatorNamespace), inHome);
    const secret = new k8s.core.v1.Secret(
      `${name}-passphrase`,
      passphraseSecret(operatorNamespace, config.passphrase),
      inHome,
    );
    new k8s.core.v1.Service(`${name}-metrics`, metricsService(operatorNamespace), inHome);
    new k8s.policy.v1.PodDisruptionBudget(`${name}-disruption`, operatorBudget(operatorNamespace), inHome);

    const rights = [
      new k8s.rbac.v1.ClusterRole(`${name}-cluster`, clusterRole(), child),
      new k8s.rbac.v1.ClusterRoleBinding(`${name}-cluster`, clusterRoleBinding(operatorNamespace), child),
      ...this.rightsIn(`${name}-operator`, operatorNamespace, ownRules(), operatorNamespace, home),
      ...namespaces.flatMap((namespace) => {
        const place = new k8s.core.v1.Namespace(`${name}-engines-${namespace}`, restrictedNamespace(namespace), kept);
        return this.rightsIn(`${name}-engines-${namespace}`, namespace, engineRules(), operatorNamespace, place);
      }),
    ];

    const daemon = new k8s.apps.v1.Deployment(`${name}-daemon`, deployment(config), {
      ...child,
      // The daemon starts by listing TradingEngines, and would crash until it may.
      dependsOn: [crd, account, secret, ...rights],
      customTimeouts: { create: daemonStart, update: daemonStart },
    });

    this.crd = crd.metadata.name;
    this.deployment = daemon.metadata.name;
    this.registerOutputs({ crd: this.crd, deployment: this.deployment });
  }

  private rightsIn(
    name: string,
    namespace: string,
    rules: ReturnType<typeof engineRules>,
    operatorNamespace: string,
    place: k8s.core.v1.Namespace,
  ): pulumi.Resource[] {
    const within = { parent: this, dependsOn: [place] };
    return [
      new k8s.rbac.v1.Role(name, role(namespace, rules), within),
      new k8s.rbac.v1.RoleBinding(name, roleBinding(namespace, operatorNamespace), within),
    ];
  }
}
