import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";

/** An address is looked up again, in the background, when it is older than this. */
const freshMs = 1000;

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true });

/**
 * A lookup for sockets that answers with the last known address at once and refreshes it
 * behind the caller's back: a slow name server, perhaps lost with the same node as the
 * primary, must not look like a long failover.
 */
export function rememberingLookup(resolve: Resolve = resolveBySystem, now = () => performance.now()): LookupFunction {
  const known = new Map<string, { addresses: readonly LookupAddress[]; at: number }>();
  const pending = new Map<string, Promise<readonly LookupAddress[]>>();

  const refresh = (hostname: string): Promise<readonly LookupAddress[]> => {
    const running = pending.get(hostname);
    if (running !== undefined) return running;
    const started = resolve(hostname)
      .then((addresses) => {
        known.set(hostname, { addresses, at: now() });
        return addresses;
      })
      .finally(() => pending.delete(hostname));
    pending.set(hostname, started);
    return started;
  };

  return (hostname, options, callback) => {
    const answer = (addresses: readonly LookupAddress[]): void => {
      const [first] = addresses;
      if (options.all === true) callback(null, [...addresses]);
      else if (first === undefined) callback(new Error(`${hostname} has no address`), "");
      else callback(null, first.address, first.family);
    };
    const remembered = known.get(hostname);
    if (remembered === undefined) {
      refresh(hostname).then(answer, (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), "");
      });
      return;
    }
    // A failed refresh leaves the last known address in use.
    if (now() - remembered.at > freshMs) refresh(hostname).catch(() => undefined);
    answer(remembered.addresses);
  };
}
