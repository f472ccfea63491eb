import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { childNames, labels, replicaHost } from "../../api/names.ts";
import { sampleEngine } from "../testing/sampleEngine.ts";
import { podSelector } from "./metadata.ts";
import { endpoints, primaryService, replicasService, standbyService } from "./services.ts";

interface PlainService {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly clusterIP?: string;
    readonly selector: Record<string, string>;
    readonly publishNotReadyAddresses?: boolean;
    readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
  };
}

const plain = (service: ReturnType<typeof primaryService>): PlainService =>
  structuredClone(service) as unknown as PlainService;

const engine = sampleEngine();
const ports = (service: PlainService) => service.spec.ports.map(({ name, port }) => `${name}:${port}`);

describe("Services of an engine", () => {
  it("lead to the primary by its role alone, ready or not", () => {
    const service = plain(primaryService(engine));
    assert.equal(service.metadata.name, "btc-usdt");
    assert.deepEqual(service.spec.selector, { ...podSelector(engine), [labels.role]: "primary" });
    assert.equal(service.spec.publishNotReadyAddresses, true);
    assert.deepEqual(ports(service), ["orders:7000", "feed:7001"]);
  });

  it("lead to standbys only while they are ready", () => {
    const service = plain(standbyService(engine));
    assert.equal(service.metadata.name, "btc-usdt-standby");
    assert.deepEqual(service.spec.selector, { ...podSelector(engine), [labels.role]: "standby" });
    assert.equal(service.spec.publishNotReadyAddresses, undefined);
  });

  it("name every replica, ready or not, without an address of their own", () => {
    const service = plain(replicasService(engine));
    assert.equal(service.spec.clusterIP, "None");
    assert.equal(service.spec.publishNotReadyAddresses, true);
    assert.deepEqual(service.spec.selector, podSelector(engine), "of whatever role");
    assert.deepEqual(ports(service), ["orders:7000", "feed:7001", "control:7070", "replication:7080"]);
    assert.ok(replicaHost("trading", "btc-usdt", 0).includes(`.${service.metadata.name}.`));
  });

  it("show the control port to nobody but through a replica's own name", () => {
    for (const service of [primaryService(engine), standbyService(engine)]) {
      assert.ok(!ports(plain(service)).some((port) => port.startsWith("control")));
    }
  });

  it("are where the endpoints point to", () => {
    const names = childNames("btc-usdt");
    assert.deepEqual(endpoints("trading", "btc-usdt"), {
      orders: `${names.primaryService}.trading.svc:7000`,
      feed: `${names.standbyService}.trading.svc:7001`,
    });
  });
});
