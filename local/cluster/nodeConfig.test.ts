import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clusterLayout } from "./layout.ts";
import { containerdConfig, kubeletConfig, kubeProxyConfig, podNetworkConfig } from "./nodeConfig.ts";

const layout = clusterLayout("dev");
const [node] = layout.nodes;
assert.ok(node);
const parse = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

describe("the configuration of a node", () => {
  it("keeps containerd's images in the node's own folder", () => {
    assert.match(containerdConfig(node), new RegExp(`^root = "${node.folder}/containerd"$`, "m"));
  });

  it("lets containers start without the right to lower an oom score", () => {
    assert.match(containerdConfig(node), /restrict_oom_score_adj = true/);
  });

  it("gives pods addresses of the node's subnet on routed links", () => {
    const { plugins } = parse(podNetworkConfig(node)) as { plugins: { type: string; ipam: unknown }[] };
    assert.equal(plugins[0]?.type, "ptp");
    assert.match(JSON.stringify(plugins[0].ipam), new RegExp(node.podCidr));
  });

  it("puts the kubelet's pods under the node's cgroup, on either cgroup version", () => {
    const config = parse(kubeletConfig(layout, node));
    assert.equal(config["cgroupRoot"], `/${node.cgroup}`);
    assert.equal(config["failCgroupV1"], false);
    assert.equal(config["cgroupDriver"], "cgroupfs");
  });

  it("never lets the kubelet collect images: there is no registry to fetch them from again", () => {
    assert.equal(parse(kubeletConfig(layout, node))["imageGCHighThresholdPercent"], 100);
  });

  it("admits nobody to the kubelet without a certificate or a token", () => {
    assert.deepEqual((parse(kubeletConfig(layout, node))["authentication"] as { anonymous: unknown }).anonymous, {
      enabled: false,
    });
  });

  it("leaves the machine's connection tracking limit alone", () => {
    assert.deepEqual(parse(kubeProxyConfig(layout, node))["conntrack"], { maxPerCore: 0, min: 0 });
  });
});
