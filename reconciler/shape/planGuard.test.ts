import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refusalOf } from "./planGuard.ts";

const urn =
  "urn:pulumi:trading.btc-usdt::enginekeeper-engines::enginekeeper:index:TradingEngine$kubernetes:apps/v1:StatefulSet::btc-usdt-replicas";

describe("refusalOf", () => {
  it("recognises a replacement that protection forbids", () => {
    const errors = [
      `unable to replace resource "${urn}"\nas it is currently marked for protection. To unprotect the resource, remove`,
      "update failed",
    ];
    assert.match(refusalOf(errors) ?? "", /would replace or delete StatefulSet\/btc-usdt-replicas, so it was not run/);
  });

  it("recognises a deletion that protection forbids", () => {
    const errors = [`resource "${urn}" cannot be deleted\nbecause it is protected. To unprotect the resource, either`];
    assert.match(refusalOf(errors) ?? "", /StatefulSet\/btc-usdt-replicas/);
  });

  it("takes other failures for what they are", () => {
    assert.equal(refusalOf([]), undefined);
    assert.equal(refusalOf([`resource "${urn}" was not successfully created by the Kubernetes API server`]), undefined);
  });
});
