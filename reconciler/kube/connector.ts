/** How connections to the API server are opened. */
import { buildConnector } from "undici";
import type { ClusterAccess, TlsMaterial } from "./access.ts";

/** First TCP probe of a silent connection; with the 10 probes a second apart that follow, a dead peer is found in 15 s. */
const probeAfterMs = 5_000;
const connectTimeoutMs = 5_000;

/** A connector that follows rotated certificates: TLS sessions are kept only as long as the material is the same. */
export const createConnector = (access: ClusterAccess): buildConnector.connector => {
  let current: { readonly tls: TlsMaterial; readonly connect: buildConnector.connector } | undefined;
  const connectorOf = (tls: TlsMaterial): buildConnector.connector => {
    if (current === undefined || !sameTls(current.tls, tls)) {
      const connect = buildConnector({
        ...tls,
        allowH2: false,
        timeout: connectTimeoutMs,
        keepAlive: true,
        keepAliveInitialDelay: probeAfterMs,
      });
      current = { tls, connect };
    }
    return current.connect;
  };
  return (target, callback) => {
    access.credentials().then(
      (credentials) => connectorOf(credentials.tls)(target, callback),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
};

const sameTls = (a: TlsMaterial, b: TlsMaterial): boolean =>
  a.ca === b.ca &&
  a.cert === b.cert &&
  a.key === b.key &&
  a.servername === b.servername &&
  a.rejectUnauthorized === b.rejectUnauthorized;
