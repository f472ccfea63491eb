import { childNames } from "../../api/names.ts";
import { type KubeClient, secrets } from "../kube/index.ts";
import type { EngineKey } from "./snapshot.ts";

const deadlineMs = 2_000;
/** While the Secret is missing or the API server away, streams ask at their own pace; the API server is asked at this. */
const retryMs = 1_000;

/** Key of the token in the control Secret. */
const tokenKey = "token";

/** The bearer token of one engine, read once and then kept until it is refused. */
export class SecretToken {
  readonly #client: KubeClient;
  readonly #engine: EngineKey;
  readonly #now: () => number;
  #token: Promise<string> | undefined;
  #failedAt = -Infinity;

  constructor(client: KubeClient, engine: EngineKey, now: () => number) {
    this.#client = client;
    this.#engine = engine;
    this.#now = now;
  }

  /** @throws {Error} when the Secret cannot be read or holds no token. */
  get(): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    const reading = this.#read();
    this.#token = reading;
    reading.catch(() => {
      this.#failedAt = this.#now();
      if (this.#token === reading) this.#token = undefined;
    });
    return reading;
  }

  invalidate(): void {
    this.#token = undefined;
  }

  async #read(): Promise<string> {
    const name = childNames(this.#engine.name).controlSecret;
    if (this.#now() < this.#failedAt + retryMs) throw new Error(`the Secret ${name} could not be read a moment ago`);
    const ref = { namespace: this.#engine.namespace, name };
    const secret = await this.#client.get(secrets, ref, { timeoutMs: deadlineMs });
    const encoded = secret.data?.[tokenKey];
    if (encoded === undefined) throw new Error(`the Secret ${name} has no key ${tokenKey}`);
    return Buffer.from(encoded, "base64").toString("utf8").trim();
  }
}
