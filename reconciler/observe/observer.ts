import { type AddressOf, type StreamView } from "../contract/index.ts";
import { type KubeClient, type NamespacedObject, refOfKey } from "../kube/index.ts";
import { readEngine } from "../tradingEngine/index.ts";
import { assembleSnapshot } from "./assemble.ts";
import { SecretToken } from "./controlToken.ts";
import { EngineStreams } from "./engineStreams.ts";
import type { EngineWatch } from "./engineWatch.ts";
import { readLease } from "./leaseCodec.ts";
import type { EngineKey, EngineSnapshot, LeaseView, ShapeView } from "./snapshot.ts";

/** Heartbeats in a detection time: one lost line must not look like silence. */
const heartbeatsPerDetection = 5;
const longestHeartbeatMs = 200;
/** A connection that is silent for so many detection times is opened anew. */
const silencesBeforeReconnect = 2;

export interface ObserverOptions {
  readonly client: KubeClient;
  readonly watch: EngineWatch;
  readonly addressOf: AddressOf;
  readonly now: () => number;
  /** Something about this engine may have changed. */
  readonly onChange: (key: string) => void;
}

/** What other parts of the reconciler know of an engine. */
export interface OwnKnowledge {
  readonly shape: ShapeView | undefined;
  readonly lastStallFailoverAt: number | undefined;
}

/** Sees one engine: holds its streams open and assembles its snapshots. */
export class EngineObserver {
  readonly key: EngineKey;
  readonly token: SecretToken;
  readonly #id: string;
  readonly #options: ObserverOptions;
  #streams: { readonly detectionMs: number; readonly open: EngineStreams } | undefined;
  #leaseSeen: LeaseView | undefined;

  constructor(id: string, options: ObserverOptions) {
    const { namespace = "", name } = refOfKey(id);
    this.key = { namespace, name };
    this.#id = id;
    this.#options = options;
    this.token = new SecretToken(options.client, this.key, options.now);
  }

  /** The stored TradingEngine; undefined once it is gone. */
  object(): NamespacedObject | undefined {
    return this.#options.watch.engine(this.#id);
  }

  /** Undefined when there is no such engine, or none that can be understood. */
  snapshot(own: OwnKnowledge): EngineSnapshot | undefined {
    const { watch } = this.#options;
    const object = this.object();
    const engine = object && readEngine(object);
    if (engine?.ok !== true) return undefined;
    const pods = watch.pods(this.#id);
    const streams = this.#streamsFor(engine.value.spec.failoverStrategy.detectionMilliseconds);
    streams.follow(
      pods.flatMap(({ metadata: { uid, name }, status }) =>
        status?.podIP === undefined || status.podIP === "" ? [] : [{ uid, name, ip: status.podIP }],
      ),
    );
    return assembleSnapshot({
      engine: engine.value,
      pods,
      lease: this.#lease(),
      statefulSet: watch.statefulSet(this.#id),
      claims: watch.claims(this.#id),
      storageClasses: watch.storageClasses(),
      nodeOf: (name) => watch.node(name),
      streamOf: (uid) => streams.view(uid),
      ...own,
    });
  }

  /** For metrics. */
  streamViews(): readonly StreamView[] {
    return this.#streams?.open.views() ?? [];
  }

  close(): void {
    this.#streams?.open.close();
  }

  /** The pace of the heartbeats follows from the detection time, so that a change of it opens all streams anew. */
  #streamsFor(detectionMs: number): EngineStreams {
    if (this.#streams?.detectionMs === detectionMs) return this.#streams.open;
    this.#streams?.open.close();
    const open = new EngineStreams({
      addressOf: this.#options.addressOf,
      token: this.token,
      heartbeatMs: Math.min(longestHeartbeatMs, Math.floor(detectionMs / heartbeatsPerDetection)),
      silenceMs: detectionMs * silencesBeforeReconnect,
      now: this.#options.now,
      onChange: () => this.#options.onChange(this.#id),
    });
    this.#streams = { detectionMs, open };
    return open;
  }

  #lease(): LeaseView | undefined {
    const lease = this.#options.watch.lease(this.#id);
    if (lease === undefined) {
      this.#leaseSeen = undefined;
      return undefined;
    }
    const read = readLease(lease);
    const before = this.#leaseSeen;
    const isSame = before?.holder === read.holder && before.epoch === read.epoch;
    this.#leaseSeen = { ...read, seenAt: isSame ? before.seenAt : this.#options.now() };
    return this.#leaseSeen;
  }
}
