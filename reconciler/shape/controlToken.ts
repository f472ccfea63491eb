import { childNames } from "../../api/names.ts";
import { isNotFound, type KubeClient, type Secret, secrets } from "../kube/index.ts";

/** Key in the control Secret; infra/engine/controlSecret.ts puts it there. */
const tokenKey = "token";
/** As much as a key of AES-256. */
const tokenBytes = 32;

/** Cryptographic randomness. */
export type RandomBytes = (size: number) => Buffer;

/**
 * The token that the engine's replicas ask for. The one in use must be kept, since replicas read it at their start only:
 * first what was stored with the state, so that a deleted or edited Secret is restored as it was, then the Secret
 * itself; a new token only where there is neither.
 */
export const controlTokenOf = async (
  client: Pick<KubeClient, "get">,
  engine: { readonly namespace: string; readonly name: string },
  stored: string | undefined,
  random: RandomBytes,
): Promise<string> => {
  if (stored !== undefined) return stored;
  const { namespace, name } = engine;
  try {
    const live = tokenIn(await client.get(secrets, { namespace, name: childNames(name).controlSecret }));
    if (live !== undefined) return live;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return random(tokenBytes).toString("base64url");
};

const tokenIn = (secret: Secret): string | undefined => {
  const encoded = secret.data?.[tokenKey];
  const token = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("utf8").trim();
  return token === "" ? undefined : token;
};
