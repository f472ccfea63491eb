/**
 * An API server in the test's own process: it keeps objects, lists, watches and checks preconditions as the real one
 * does, and fails in every way a test asks for. It knows no schemas, defaults or authorization.
 */
import type { ClusterAccess } from "../../reconciler/kube/access.ts";
import { answer, type Target, targetOf } from "./fakeRequests.ts";
import { createFakeStore, type FakeStore, type HistoryEntry } from "./fakeStore.ts";
import { statusAnswer } from "./fault.ts";
import { type FaultyServer, startFaultyServer } from "./faultyServer.ts";
import type { WatchFeed } from "./watchStream.ts";

export interface FakeApiServer extends FaultyServer {
  readonly access: ClusterAccess;
  readonly store: FakeStore;
  /** Drops all that is over from `requests`, `watches` and the history of `store`, which else grow in a long test. */
  forget(): void;
}

/** Starts one on a free port of the loopback address. */
export const startFakeApiServer = async (): Promise<FakeApiServer> => {
  const store = createFakeStore();
  const front = await startFaultyServer({
    answer(request) {
      const url = new URL(request.path, "http://fake");
      const reply = answer(store, targetOf(url.pathname), request, url.searchParams);
      if ("status" in reply) return statusAnswer(reply.status);
      return { code: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(reply.body) };
    },
    watch(request, open) {
      const url = new URL(request.path, "http://fake");
      const target = targetOf(url.pathname);
      const missed = store.since(Number(url.searchParams.get("resourceVersion")), target.collection);
      if (missed === undefined) return statusAnswer({ code: 410, reason: "Expired" });
      const feed = open(() => String(store.version));
      follow(store, target, missed, feed);
      return undefined;
    },
  });
  return {
    ...front,
    // A spread has read what changes: these are to be read anew each time.
    get connections() {
      return front.connections;
    },
    get openConnections() {
      return front.openConnections;
    },
    access: {
      server: front.url,
      namespace: undefined,
      credentials: () => Promise.resolve({ headers: {}, tls: {} }),
    },
    store,
    forget() {
      front.forget();
      store.compact();
    },
  };
};

/** Feeds a watch with what it missed and with all that happens until its end. */
const follow = (store: FakeStore, target: Target, missed: readonly HistoryEntry[], feed: WatchFeed): void => {
  const onChange = ({ type, collection, object }: HistoryEntry): void => {
    if (collection !== target.collection) return;
    if (target.namespace !== undefined && object.metadata.namespace !== target.namespace) return;
    feed.change(type, object);
  };
  for (const entry of missed) onChange(entry);
  feed.onEnd(store.onChange(onChange));
};
