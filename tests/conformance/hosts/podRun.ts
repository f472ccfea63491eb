import { setTimeout as sleep } from "node:timers/promises";

import { ports } from "../../../api/names.ts";
import {
  type ClusterAccess,
  execInPod,
  isNotFound,
  type KubeClient,
  type ObjectRef,
  type Pod,
  pods,
} from "../../../reconciler/kube/index.ts";
import { Violation } from "../violation.ts";
import type { Addresses, EngineRun, Signal } from "./engineHost.ts";
import { engineContainer, helperContainer, signalProgram } from "./enginePod.ts";

/** A connection to the cluster. */
export interface Cluster {
  readonly access: ClusterAccess;
  readonly client: KubeClient;
}

export const kitName = "enginekeeper-conformance";
const pollMs = 150;
/** An image may have to be pulled and a volume to be made. */
const startDeadlineMs = 180_000;
const execDeadlineMs = 30_000;

/** The engine's process in pod `ref`, from its start to its end. */
export class PodRun implements EngineRun {
  readonly addresses: Addresses;
  readonly exited: Promise<number | null>;
  readonly #cluster: Cluster;
  readonly #ref: ObjectRef;
  #ended = false;

  private constructor(cluster: Cluster, ref: ObjectRef, ip: string) {
    this.#cluster = cluster;
    this.#ref = ref;
    const at = (port: number): string => `${ip}:${port}`;
    this.addresses = { control: at(ports.control), orders: at(ports.orders), replication: at(ports.replication) };
    this.exited = this.#end();
  }

  /** Waits until the container runs, or has run. */
  static async of(cluster: Cluster, ref: ObjectRef): Promise<PodRun> {
    const end = performance.now() + startDeadlineMs;
    for (;;) {
      const pod = await cluster.client.get(pods, ref);
      const state = engineState(pod);
      const ip = pod.status?.podIP ?? "";
      const begun = state?.running !== undefined || state?.terminated !== undefined;
      if (begun && ip !== "" && helperRuns(pod)) return new PodRun(cluster, ref, ip);
      const cannot = pullFailure(pod);
      if (cannot !== null) throw new Violation(cannot, "an image that the cluster can pull");
      if (performance.now() > end) {
        throw new Error(`pod ${ref.name} did not start in ${startDeadlineMs / 1000} s: ${JSON.stringify(pod.status)}`);
      }
      await sleep(pollMs);
    }
  }

  get ended(): boolean {
    return this.#ended;
  }

  async signal(signal: Signal): Promise<void> {
    await runInHelper(this.#cluster, this.#ref, signalProgram, [signal]);
  }

  async output(): Promise<string> {
    const { namespace = "", name } = this.#ref;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?container=${engineContainer}&tailLines=20`;
    try {
      return (await this.#cluster.client.raw({ method: "GET", path })).body;
    } catch (error) {
      return `no output: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** An API server that does not answer for a while says nothing about the pod. */
  async #look(): Promise<Pod | "gone" | "unknown"> {
    try {
      return await this.#cluster.client.get(pods, this.#ref);
    } catch (error) {
      return isNotFound(error) ? "gone" : "unknown";
    }
  }

  /** A code above 128 is a signal's. A pod that is gone has no code to tell. */
  async #end(): Promise<number | null> {
    for (;;) {
      const pod = await this.#look();
      const terminated = pod === "gone" || pod === "unknown" ? undefined : engineState(pod)?.terminated;
      if (pod === "gone" || terminated !== undefined) {
        this.#ended = true;
        const code = terminated?.exitCode;
        return code === undefined || code > 128 ? null : code;
      }
      await sleep(pollMs);
    }
  }
}

/** Why an image can't be had; null while nothing speaks against it. */
const pullFailure = (pod: Pod): string | null => {
  for (const { image, state } of pod.status?.containerStatuses ?? []) {
    const { reason = "", message = "" } = state?.waiting ?? {};
    if (["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"].includes(reason)) {
      return `${image}: ${reason} ${message}`;
    }
  }
  return null;
};

/** Runs a program for Node.js in the helper beside an engine. */
export const runInHelper = async (
  { access }: Cluster,
  pod: ObjectRef,
  program: string,
  args: readonly string[] = [],
): Promise<void> => {
  const { exitCode, stderr } = await execInPod({
    access,
    userAgent: kitName,
    pod,
    container: helperContainer,
    command: ["node", "-e", program, ...args],
    timeoutMs: execDeadlineMs,
  });
  if (exitCode !== 0) throw new Error(`the helper of ${pod.name} exited ${String(exitCode)}: ${stderr}`);
};

const statusOf = (pod: Pod, container: string) =>
  pod.status?.containerStatuses?.find(({ name }) => name === container)?.state;

const engineState = (pod: Pod) => statusOf(pod, engineContainer);

const helperRuns = (pod: Pod): boolean => statusOf(pod, helperContainer)?.running !== undefined;
