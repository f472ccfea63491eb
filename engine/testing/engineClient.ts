import { setTimeout as sleep } from "node:timers/promises";

import type { EngineStatus } from "../control/status.ts";
import type { ListenAddress } from "../process/config.ts";
import type { EngineAddresses } from "../process/engine.ts";

export const testToken = "a-token-for-tests";
export const testCluster = "trading/btc-usdt";

export interface HttpResult {
  readonly status: number;
  // Tests look at bodies as they came.
  readonly body: Record<string, unknown>;
}

const requestDeadlineMs = 10_000;

/** What a test says to one engine over its ports. */
export class EngineClient {
  readonly instance: string;
  readonly addresses: EngineAddresses;
  #operations = 0;

  constructor(instance: string, addresses: EngineAddresses) {
    this.instance = instance;
    this.addresses = addresses;
  }

  /** A mutating call with a fresh operation id, unless `body` brings one. */
  call(method: string, path: string, epoch: number, body: object = {}): Promise<HttpResult> {
    this.#operations += 1;
    const opId = `${this.instance}-${path}-${this.#operations}`;
    return request(this.addresses.control, method, path, { clusterUid: testCluster, epoch, opId, ...body });
  }

  fence(epoch: number, body: object = {}): Promise<HttpResult> {
    return this.call("POST", "/v1/fence", epoch, body);
  }

  promote(epoch: number, members: readonly string[], body: object = {}): Promise<HttpResult> {
    const minPosition = { epoch: 0, seq: 0 };
    return this.call("POST", "/v1/promote", epoch, { minPosition, members, k: 1, resume: "open", ...body });
  }

  follow(epoch: number, primary: EngineClient): Promise<HttpResult> {
    const { replication, orders } = primary.addresses;
    const upstream = { instance: primary.instance, replication: written(replication), orders: written(orders) };
    return this.call("POST", "/v1/follow", epoch, { upstream });
  }

  get(path: string): Promise<HttpResult> {
    return request(this.addresses.control, "GET", path);
  }

  async status(): Promise<EngineStatus> {
    const { body } = await this.get("/v1/status");
    return body as unknown as EngineStatus;
  }

  order(body: object): Promise<HttpResult> {
    return request(this.addresses.orders, "POST", "/v1/orders", body);
  }

  /** A limit buy of one unit that nothing matches. */
  bid(clientId: string): Promise<HttpResult> {
    return this.order({ clientId, type: "limit", side: "buy", price: "100.00", quantity: "1" });
  }

  find(clientId: string): Promise<HttpResult> {
    return request(this.addresses.orders, "GET", `/v1/orders/${clientId}`);
  }

  cancel(clientId: string): Promise<HttpResult> {
    return request(this.addresses.orders, "DELETE", `/v1/orders/${clientId}`);
  }

  async journal(): Promise<{ epoch: number; seq: number; type: string; clientId?: string }[]> {
    const response = await fetch(urlOf(this.addresses.control, "/v1/journal"), { headers: authorization });
    const text = await response.text();
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { epoch: number; seq: number; type: string; clientId?: string });
  }

  /** Polls the status until `accept` holds; fails with the last status seen. */
  async until(what: string, accept: (status: EngineStatus) => boolean, deadlineMs = 10_000): Promise<EngineStatus> {
    const end = Date.now() + deadlineMs;
    for (;;) {
      const status = await this.status();
      if (accept(status)) return status;
      if (Date.now() > end) throw new Error(`${this.instance} is not ${what}: ${JSON.stringify(status)}`);
      await sleep(10);
    }
  }

  accepting(): Promise<EngineStatus> {
    return this.until("accepting orders", (status) => status.role === "primary" && status.ready);
  }
}

export const written = ({ host, port }: ListenAddress): string => `${host}:${port}`;

const authorization = { authorization: `Bearer ${testToken}` };

const urlOf = (address: ListenAddress, path: string): string => `http://${written(address)}${path}`;

const request = async (address: ListenAddress, method: string, path: string, body?: object): Promise<HttpResult> => {
  const response = await fetch(urlOf(address, path), {
    method,
    headers: { ...authorization, "content-type": "application/json" },
    signal: AbortSignal.timeout(requestDeadlineMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
