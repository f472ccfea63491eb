import { isDeepStrictEqual } from "node:util";
import { apiVersion, fieldManagers, tradingEngineKind } from "../../api/names.ts";
import type { TradingEngineStatus } from "../../api/tradingEngine/index.ts";
import { isConflict, isNotFound, type KubeClient, type NamespacedObject } from "../kube/index.ts";
import type { EngineKey } from "../observe/index.ts";
import { tradingEngines } from "../tradingEngine/index.ts";

const deadlineMs = 5_000;
const retryMs = 1_000;

export interface StatusWriterOptions {
  /** With the leader's fence. */
  readonly client: KubeClient;
  readonly engine: EngineKey;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  readonly onWritten: () => void;
}

/** Writes one engine's status beside the role lane: never more than one write at a time, and none that changes nothing. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  /** As the API server has it by our last write; informers show it later. */
  #written: { readonly uid: string; readonly status: TradingEngineStatus } | undefined;
  #isWriting = false;
  #failedAt = -Infinity;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** The status to compare with and to take times from. */
  current(uid: string, published: TradingEngineStatus | undefined): TradingEngineStatus | undefined {
    return this.#written?.uid === uid ? this.#written.status : published;
  }

  /** Another process may have written since: start from what informers show. */
  reset(): void {
    this.#written = undefined;
  }

  /**
   * Writes the status when it differs from `before`. While a write is under way or one has just failed, nothing
   * happens: the caller comes again with whatever is true then.
   * @returns false when it should come again.
   */
  offer(uid: string, before: TradingEngineStatus | undefined, status: TradingEngineStatus): boolean {
    if (isDeepStrictEqual(before, status)) return true;
    if (this.#isWriting || this.#options.now() < this.#failedAt + retryMs) return false;
    this.#isWriting = true;
    void this.#write(uid, status).finally(() => {
      this.#isWriting = false;
    });
    return true;
  }

  async #write(uid: string, status: TradingEngineStatus): Promise<void> {
    const { client, engine, onError, onWritten, now } = this.#options;
    const draft = { apiVersion, kind: tradingEngineKind, metadata: { ...engine, uid }, status };
    try {
      await client.apply<NamespacedObject>(tradingEngines, draft, {
        manager: fieldManagers.status,
        force: true,
        subresource: "status",
        timeoutMs: deadlineMs,
      });
      this.#written = { uid, status };
      onWritten();
    } catch (error) {
      // Gone, or made anew under the same name: then there is nobody to tell.
      if (isNotFound(error) || isConflict(error)) return;
      this.#failedAt = now();
      onError(error);
    }
  }
}
