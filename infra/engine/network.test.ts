import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sampleEngine } from "../testing/sampleEngine.ts";
import { podSelector } from "./metadata.ts";
import { defaultPeers, networkPolicy } from "./network.ts";

interface PlainRule {
  readonly from?: readonly unknown[];
  readonly to?: readonly unknown[];
  readonly ports: readonly { readonly protocol: string; readonly port: number }[];
}
interface PlainPolicy {
  readonly podSelector: unknown;
  readonly policyTypes: readonly string[];
  readonly ingress: readonly PlainRule[];
  readonly egress: readonly PlainRule[];
}

const policy = (...engine: Parameters<typeof sampleEngine>): PlainPolicy =>
  structuredClone(networkPolicy(sampleEngine(...engine)).spec) as PlainPolicy;

const rulesFor = (rules: readonly PlainRule[], port: number) =>
  rules.filter((rule) => rule.ports.some((open) => open.port === port));

const replicas = [{ podSelector: { matchLabels: podSelector(sampleEngine()) } }];

describe("network of an engine", () => {
  it("is closed in both directions but for the rules", () => {
    const { podSelector: selected, policyTypes } = policy();
    assert.deepEqual(selected, { matchLabels: podSelector(sampleEngine()) });
    assert.deepEqual(policyTypes, ["Ingress", "Egress"]);
  });

  const reachable = [
    [7000, "order entry", [{ namespaceSelector: { matchLabels: {} } }]],
    [7001, "the feed", [{ namespaceSelector: { matchLabels: {} } }]],
    [
      7070,
      "control",
      [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "enginekeeper-system" } } }],
    ],
    [7080, "replication", replicas],
  ] as const;

  for (const [port, what, from] of reachable) {
    it(`opens ${what} to those who need it and nobody else`, () => {
      assert.deepEqual(
        rulesFor(policy().ingress, port).map((rule) => rule.from),
        [from],
      );
    });
  }

  it("opens no other port", () => {
    const open = policy().ingress.flatMap(({ ports }) => ports.map(({ port }) => port));
    assert.deepEqual(open.sort(), [7000, 7001, 7070, 7080]);
  });

  it("lets replicas out to each other and to name servers only", () => {
    const [replication, names, ...rest] = policy().egress;
    assert.deepEqual(replication, { to: replicas, ports: [{ protocol: "TCP", port: 7080 }] });
    assert.deepEqual(names, {
      ports: [
        { protocol: "UDP", port: 53 },
        { protocol: "TCP", port: 53 },
      ],
    });
    assert.deepEqual(rest, []);
  });

  it("closes a port that nobody may reach, where an empty list would open it to all", () => {
    const peers = { ...defaultPeers("enginekeeper-system"), clients: [] };
    assert.deepEqual(rulesFor(policy({}, { peers }).ingress, 7000), []);
  });

  it("never has a rule without peers on the way in", () => {
    for (const rule of policy().ingress) assert.ok((rule.from ?? []).length > 0);
  });
});
