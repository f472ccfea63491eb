import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { problem } from "../../api/contract/v1.ts";
import { problemOf, Refusal, type RefusalCode } from "../../engine/replica/refusal.ts";
import { type EngineClient, testCluster, testToken, written } from "../../engine/testing/engineClient.ts";
import { startTrio } from "../../engine/testing/testEngine.ts";
import { refusalStatus } from "../conformance/refusals.ts";
import { EngineOpenapi } from "./engineOpenapi.ts";

const repository = join(import.meta.dirname, "..", "..");
const textOf = (path: string): Promise<string> => readFile(join(repository, path), "utf8");

/** Every refusal of the engine: the compiler sees to it that none is missing. */
const refusalCodes: Readonly<Record<RefusalCode, true>> = {
  BAD_REQUEST: true,
  UNAUTHORIZED: true,
  NOT_FOUND: true,
  STALE_EPOCH: true,
  WRONG_STATE: true,
  WRONG_CLUSTER: true,
  OP_ID_REUSED: true,
  BUSY: true,
  PENDING: true,
  GONE: true,
  BEHIND: true,
  RANGE_NOT_SATISFIABLE: true,
  HALTED: true,
  RECOVERING: true,
  TIMEOUT: true,
  NO_SPACE: true,
  INTERNAL: true,
};

/** Routes of the order port; the server matches them one by one. */
const orderRoutes = ["POST /v1/orders", "GET /v1/orders/{clientId}", "DELETE /v1/orders/{clientId}", "GET /v1/book"];

describe("engine-openapi.yaml", () => {
  let openapi: EngineOpenapi;
  before(async () => {
    openapi = await EngineOpenapi.read();
  });

  it("says that it is OpenAPI 3.1, and refers to nothing that is not there", () => {
    assert.equal(openapi.document["openapi"], "3.1.0");
    assert.deepEqual(openapi.lostReferences, []);
  });

  it("has every route of the control port, and no other", async () => {
    const source = await textOf("engine/control/controlServer.ts");
    const served = [...source.matchAll(/"((?:GET|POST|PUT|DELETE) \/[^"]*)"/g)].map(([, route]) => route);
    assert.ok(served.length >= 17, `${served.length} routes found in the source`);
    const told = openapi.routes.filter((route) => !orderRoutes.includes(route));
    assert.deepEqual([...new Set(served)].toSorted(), told.toSorted());
  });

  it("has every refusal code, and the contract tells each with its status", async () => {
    const contract = await textOf("docs/reference/engine-contract.md");
    for (const code of Object.keys(refusalCodes) as RefusalCode[]) {
      const { status } = problemOf(new Refusal(code, ""));
      assert.ok(openapi.refusalCodes.includes(code), `${code} in the schema Problem`);
      assert.match(contract, new RegExp(`^\\| ${status} \\| \`${code}\` \\|`, "m"), `${code} in engine-contract.md`);
    }
    for (const code of problem.shape.code.options) {
      assert.ok(openapi.refusalCodes.includes(code), `${code}, which the operator reads, in the schema Problem`);
    }
  });

  it("agrees with the conformance kit about the status of each code", () => {
    for (const [code, status] of Object.entries(refusalStatus)) {
      assert.equal(problemOf(new Refusal(code as RefusalCode, "")).status, status, code);
    }
  });

  it("describes what a real engine answers", async (test: TestContext) => {
    const [primary, standby, third] = await startTrio(test);
    const probe = new Prober(openapi);
    for (const engine of [primary, standby]) {
      for (const path of ["/livez", "/startupz", "/readyz", "/v1/primary", "/v1/standby", "/v1/status"]) {
        await probe.control(engine, `GET ${path}`);
      }
    }
    await probe.control(primary, "GET /metrics");
    await probe.control(primary, "GET /v1/status/stream", "?heartbeatMs=20");
    await probe.control(primary, "GET /v1/status/stream", "?heartbeatMs=never");
    await probe.orders(primary, "GET /v1/orders/{clientId}", "missing");
    const order = { clientId: "ask", type: "limit", side: "sell", price: "100.00", quantity: "1" };
    await probe.orders(primary, "POST /v1/orders", "", order);
    await probe.orders(primary, "POST /v1/orders", "", { ...order, clientId: "bid", side: "buy", quantity: "0.4" });
    await probe.orders(primary, "POST /v1/orders", "", { ...order, price: "NaN" });
    await probe.orders(primary, "POST /v1/orders", "", { ...order, quantity: "2" });
    await probe.orders(standby, "POST /v1/orders", "", order);
    await probe.orders(primary, "GET /v1/orders/{clientId}", "bid");
    await probe.orders(primary, "GET /v1/book", "");
    await probe.orders(primary, "DELETE /v1/orders/{clientId}", "ask");
    await probe.control(primary, "GET /v1/hash", "?seq=2");
    await probe.control(primary, "GET /v1/hash", "?seq=last");
    await probe.control(primary, "GET /v1/journal", "?fromSeq=1");
    await probe.call(standby, "POST /v1/snapshots", 1, {});
    await probe.control(standby, "GET /v1/snapshots");
    await probe.snapshot(standby, "GET /v1/snapshots/{id}", "9-9");
    await probe.snapshot(standby, "GET /v1/snapshots/{id}/data", "9-9");
    const members = { members: ["te-1", "te-2"], k: 1 };
    await probe.call(primary, "PUT /v1/members", 1, { ...members, version: 2 });
    await probe.call(primary, "POST /v1/grant", 1, { ttlMs: 1_000 });
    await probe.call(primary, "POST /v1/drain", 1, { mode: "cancelOnly", deadlineMs: 1_000 });
    await probe.call(primary, "DELETE /v1/drain", 1, {});
    await probe.call(standby, "POST /v1/demote", 1, { deadlineMs: 1_000 });
    await probe.call(primary, "POST /v1/demote", 1, { deadlineMs: 5_000 });
    await probe.call(standby, "POST /v1/fence", 2, {});
    await probe.call(standby, "POST /v1/fence", 1, {});
    const minPosition = { epoch: 0, seq: 0 };
    await probe.call(standby, "POST /v1/promote", 3, { ...members, minPosition: { epoch: 9, seq: 9 }, resume: "open" });
    await probe.call(standby, "POST /v1/promote", 4, { ...members, minPosition, resume: "open" });
    const { replication, orders } = standby.addresses;
    const upstream = { instance: "te-1", replication: written(replication), orders: written(orders) };
    await probe.call(third, "POST /v1/follow", 4, { upstream });
    assert.deepEqual(probe.faults, []);
    assert.deepEqual(
      openapi.routes.filter((route) => !probe.asked.has(route)),
      [],
      "every route was asked",
    );
  });

  it("tells a good request from a bad one", () => {
    const good = { clusterUid: testCluster, epoch: 1, opId: "one" };
    assert.deepEqual(openapi.bodyFaults("POST /v1/fence", good), []);
    assert.notDeepEqual(openapi.bodyFaults("POST /v1/fence", { ...good, epoch: 0 }), []);
    assert.notDeepEqual(openapi.bodyFaults("POST /v1/promote", good), []);
  });
});

/** Asks a real engine, and holds requests and answers against the document. */
class Prober {
  readonly faults: string[] = [];
  readonly asked = new Set<string>();
  readonly #openapi: EngineOpenapi;
  #operations = 0;

  constructor(openapi: EngineOpenapi) {
    this.#openapi = openapi;
  }

  control(engine: EngineClient, route: string, query = "", body?: object): Promise<void> {
    return this.#ask(written(engine.addresses.control), route, (path) => path + query, body);
  }

  async call(engine: EngineClient, route: string, epoch: number, body: object): Promise<void> {
    this.#operations += 1;
    const whole = { clusterUid: testCluster, epoch, opId: `openapi-${this.#operations}`, ...body };
    this.#note(route, this.#openapi.bodyFaults(route, whole));
    await this.control(engine, route, "", whole);
  }

  snapshot(engine: EngineClient, route: string, id: string): Promise<void> {
    return this.#ask(written(engine.addresses.control), route, (path) => path.replace("{id}", id));
  }

  orders(engine: EngineClient, route: string, clientId: string, body?: object): Promise<void> {
    return this.#ask(written(engine.addresses.orders), route, (path) => path.replace("{clientId}", clientId), body);
  }

  async #ask(address: string, route: string, at: (path: string) => string, body?: object): Promise<void> {
    this.asked.add(route);
    const [method = "", path = ""] = route.split(" ");
    const abort = new AbortController();
    const response = await fetch(`http://${address}${at(path)}`, {
      method,
      headers: { authorization: `Bearer ${testToken}` },
      signal: abort.signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const type = response.headers.get("content-type") ?? "";
    const text = await textWithin(response, path.endsWith("/stream") ? 200 : 10_000);
    abort.abort();
    for (const told of bodiesOf(type, text)) {
      this.#note(`${route} ${response.status}`, this.#openapi.answerFaults(route, response.status, type, told));
    }
  }

  #note(what: string, faults: readonly string[]): void {
    for (const fault of faults) this.faults.push(`${what}: ${fault}`);
  }
}

/** The text that arrives until the end or for a while. */
const textWithin = async (response: Response, milliseconds: number): Promise<string> => {
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString("utf8");
  })();
  await Promise.race([reading, sleep(milliseconds, undefined, { ref: false })]);
  reading.catch(() => undefined);
  return text;
};

const bodiesOf = (type: string, text: string): unknown[] => {
  if (type.startsWith("text/plain")) return [text];
  if (!type.startsWith("application/x-ndjson")) return [JSON.parse(text)];
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
};
