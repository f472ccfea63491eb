/**
 * The files by which an API server knows its users, and its users know it.
 */
import { generateKeyPair, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** A user who authenticates by a bearer token. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface Credentials {
  readonly tokenFile: string;
  readonly serviceAccountPrivateKeyFile: string;
  readonly serviceAccountPublicKeyFile: string;
  /** User name -> bearer token. */
  readonly tokens: ReadonlyMap<string, string>;
}

const ownerOnly = { mode: 0o600 };

/** Makes a token for each user and a key pair for service account tokens, as files in `folder`. */
export const writeCredentials = async (folder: string, users: readonly User[]): Promise<Credentials> => {
  const tokens = new Map(users.map(({ name }) => [name, randomBytes(24).toString("hex")]));
  const tokenFile = join(folder, "tokens.csv");
  const lines = users.map(({ name, groups }) => `${tokens.get(name) ?? ""},${name},${name},"${groups.join(",")}"\n`);
  await writeFile(tokenFile, lines.join(""), ownerOnly);

  const { privateKey, publicKey } = await promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
  const serviceAccountPrivateKeyFile = join(folder, "service-account.key");
  const serviceAccountPublicKeyFile = join(folder, "service-account.pub");
  await writeFile(serviceAccountPrivateKeyFile, privateKey.export({ type: "sec1", format: "pem" }), ownerOnly);
  await writeFile(serviceAccountPublicKeyFile, publicKey.export({ type: "spki", format: "pem" }));
  return { tokenFile, serviceAccountPrivateKeyFile, serviceAccountPublicKeyFile, tokens };
};

/** Writes a kubeconfig for one user of one API server; as JSON, which is YAML too. */
export const writeKubeconfig = async (file: string, url: string, caFile: string, token: string): Promise<void> => {
  const name = "test";
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server: url, "certificate-authority": caFile } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  await writeFile(file, JSON.stringify(kubeconfig, undefined, 2), ownerOnly);
};
