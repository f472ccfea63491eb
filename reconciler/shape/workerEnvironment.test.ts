import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { workerEnvironment } from "./workerEnvironment.ts";

const passphrase = { PULUMI_CONFIG_PASSPHRASE_FILE: "/etc/passphrase" };

describe("workerEnvironment", () => {
  for (const env of [{}, { PULUMI_CONFIG_PASSPHRASE_FILE: "" }]) {
    it(`says what to set when there is no passphrase: ${JSON.stringify(env)}`, () => {
      assert.throws(() => workerEnvironment(env, { scratch: "/scratch" }), /set PULUMI_CONFIG_PASSPHRASE_FILE/);
    });
  }

  it("takes an empty passphrase that was set on purpose", () => {
    assert.equal(
      workerEnvironment({ PULUMI_CONFIG_PASSPHRASE: "" }, { scratch: "/s" })["PULUMI_CONFIG_PASSPHRASE"],
      "",
    );
  });

  it("keeps the CLI's home in the scratch folder, and what the process has otherwise", () => {
    const env = workerEnvironment(
      { ...passphrase, PULUMI_HOME: "/elsewhere", KUBECONFIG: "/k" },
      { scratch: "/scratch" },
    );
    assert.equal(env["PULUMI_HOME"], "/scratch/home");
    assert.equal(env["KUBECONFIG"], "/k");
    assert.equal(env["PULUMI_CONFIG_PASSPHRASE_FILE"], "/etc/passphrase");
  });

  it("names a user and a home where the container's uid has none", () => {
    const { USER, HOME } = workerEnvironment(passphrase, { scratch: "/scratch" });
    assert.deepEqual([USER, HOME], ["enginekeeper", "/scratch"]);
  });

  it("finds the CLI first in its own folder, and the cluster by the given kubeconfig", () => {
    const places = { scratch: "/s", pulumiFolder: "/opt/pulumi", kubeconfig: "/kube" };
    const { PATH, KUBECONFIG } = workerEnvironment({ ...passphrase, PATH: "/bin", KUBECONFIG: "/other" }, places);
    assert.deepEqual([PATH, KUBECONFIG], ["/opt/pulumi:/bin", "/kube"]);
  });
});
