import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { enginePod } from "./enginePod.ts";

const pod = enginePod({
  namespace: "conformance-1",
  name: "rule-te-0-1",
  claim: "rule-te-0",
  image: "somebody/engine:1",
  helperImage: "helper:1",
  settings: {
    clusterUid: "trading/conformance",
    instance: "te-0",
    env: { TE_TOKEN_FILE: "/nowhere", TE_CLUSTER_UID: undefined },
  },
});
const [engine, helper] = pod.spec?.containers ?? [];

describe("a pod of the engine under test", () => {
  it("gives the engine its TE_* variables, as the rule changed them", () => {
    const env = new Map(engine?.env?.map((variable) => [variable.name, variable.value]));
    assert.equal(env.get("TE_INSTANCE_ID"), "te-0");
    assert.equal(env.get("TE_CONTROL_ADDR"), "0.0.0.0:7070");
    assert.equal(env.get("TE_TOKEN_FILE"), "/nowhere");
    assert.equal(env.has("TE_CLUSTER_UID"), false);
  });

  it("is never restarted by the kubelet: an exit code that a rule waits for must stay", () => {
    assert.equal(pod.spec?.restartPolicy, "Never");
  });

  it("lets the helper see the engine's processes, and not be taken for one", () => {
    assert.equal(pod.spec?.shareProcessNamespace, true);
    assert.equal(helper?.image, "helper:1");
    assert.equal(helper.env, undefined);
  });

  it("may run where the pod security level is restricted", () => {
    assert.equal(pod.spec?.securityContext?.runAsNonRoot, true);
    for (const container of [engine, helper]) {
      assert.deepEqual(container?.securityContext?.capabilities, { drop: ["ALL"] });
    }
  });
});
