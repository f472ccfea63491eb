import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { podProxyPath } from "./podProxy.ts";

describe("podProxyPath", () => {
  it("leads through the API server to a port and path of a pod, its query included", () => {
    const port = { namespace: "trading", pod: "e-orders-1", port: 7090 };
    assert.equal(
      podProxyPath(port, "/journal/e-0?fromSeq=1"),
      "/api/v1/namespaces/trading/pods/e-orders-1:7090/proxy/journal/e-0?fromSeq=1",
    );
  });
});
