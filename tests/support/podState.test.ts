import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pod } from "../../reconciler/kube/index.ts";
import { isReady, isSameContainer } from "./podState.ts";

interface Traits {
  readonly uid?: string;
  readonly ready?: "True" | "False";
  readonly containerID?: string;
  readonly deletionTimestamp?: string;
}

const pod = ({ uid = "u-1", ready = "True", containerID = "c-1", deletionTimestamp }: Traits = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "e-0",
    namespace: "trading",
    uid,
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  },
  status: {
    conditions: [{ type: "Ready", status: ready }],
    containerStatuses: [
      { name: "engine", containerID, image: "i", imageID: "i", ready: ready === "True", restartCount: 0 },
    ],
  },
});

describe("isReady", () => {
  it("is what the Ready condition says", () => {
    assert.equal(isReady(pod()), true);
    assert.equal(isReady(pod({ ready: "False" })), false);
  });

  it("is false of a pod on its way out, whatever its condition still says", () => {
    assert.equal(isReady(pod({ deletionTimestamp: "2026-01-01T00:00:01Z" })), false);
  });

  it("is false of a pod without a status", () => {
    const { apiVersion, kind, metadata } = pod();
    assert.equal(isReady({ apiVersion, kind, metadata }), false);
  });
});

describe("isSameContainer", () => {
  const cases = [
    { name: "an untouched pod", after: pod({ ready: "False" }), same: true },
    { name: "a container restarted in its pod", after: pod({ containerID: "c-2" }), same: false },
    { name: "another pod of the same name", after: pod({ uid: "u-2" }), same: false },
  ];
  for (const { name, after, same } of cases) {
    it(`${same ? "knows" : "tells apart"} ${name}`, () => assert.equal(isSameContainer(after, pod()), same));
  }
});
