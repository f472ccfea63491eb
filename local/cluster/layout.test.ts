import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ClusterName, clusterLayout, clusterNumbers } from "./layout.ts";

const names = Object.keys(clusterNumbers) as ClusterName[];

describe("the layout of a cluster", () => {
  it("depends on its name alone", () => {
    assert.deepEqual(clusterLayout("dev"), clusterLayout("dev"));
  });

  it("gives each node an address, a pod subnet and names of its own", () => {
    const { nodes } = clusterLayout("dev", 5);
    for (const key of ["name", "address", "podCidr", "networkNamespace", "link", "folder", "cgroup"] as const) {
      assert.equal(new Set(nodes.map((node) => node[key])).size, 5, key);
    }
  });

  it("keeps interface names within the kernel's 15 characters", () => {
    for (const layout of names.map((name) => clusterLayout(name, 9))) {
      for (const name of [layout.bridge, ...layout.nodes.map((node) => node.link)]) assert.ok(name.length <= 15, name);
    }
  });

  it("lets all clusters run side by side: nothing is shared", () => {
    const layouts = names.map((name) => clusterLayout(name));
    for (const key of ["bridge", "address", "prefix", "serviceCidr", "folder", "kubeconfig"] as const) {
      assert.equal(new Set(layouts.map((layout) => layout[key])).size, layouts.length, key);
    }
    const nodeNames = layouts.flatMap((layout) => layout.nodes.map((node) => node.name));
    assert.equal(new Set(nodeNames).size, nodeNames.length);
  });

  it("has services outside every pod subnet", () => {
    const { serviceCidr, nodes } = clusterLayout("dev", 9);
    const third = Number(serviceCidr.split(".")[2]);
    for (const node of nodes) assert.ok(Number(node.podCidr.split(".")[2]) < third);
  });
});
