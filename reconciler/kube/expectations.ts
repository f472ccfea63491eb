/** What a controller wrote and its cache does not show yet, so that a stale cache never makes it do the same twice. */
import { type Clock, systemClock } from "./clock.ts";
import type { Change } from "./informer.ts";
import type { KubeObject } from "./kubeObject.ts";

export interface Expectations {
  /** Creates or changes an object for `owner`: until the cache shows what the API server answered, it is not trusted. */
  writing<T extends KubeObject>(owner: string, write: () => Promise<T>): Promise<T>;
  /** Deletes `object` for `owner`: until the cache shows it as gone or going, it is not trusted. */
  deleting(owner: string, object: KubeObject, remove: () => Promise<void>): Promise<void>;
  /** To be fed with every change of the objects' informers. */
  observe(change: Change<KubeObject>): void;
  /** Whether `owner` may decide on what the cache shows. */
  fulfilled(owner: string): boolean;
  /** `owner` is gone. */
  forget(owner: string): void;
}

interface Expected {
  readonly what: "version" | "deletion";
  readonly resourceVersion: string;
  readonly since: number;
}

/**
 * The cache may never show a version that was overwritten at once, as versions cannot be ordered; after this time it is
 * trusted again.
 */
const defaultTimeoutMs = 30_000;

export interface ExpectationsOptions {
  readonly clock?: Clock;
  /** Default 30 s. */
  readonly timeoutMs?: number;
}

export const createExpectations = (options: ExpectationsOptions = {}): Expectations => {
  const clock = options.clock ?? systemClock;
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  /** By owner, then by the uid of the object. */
  const expectations = new Map<string, Map<string, Expected>>();
  /** Writes on their way, by owner. */
  const inFlight = new Map<string, number>();
  /** Versions that the cache showed while writes were on their way: one may be the answer to come. */
  const shown = new Set<string>();

  const begin = (owner: string): void => void inFlight.set(owner, (inFlight.get(owner) ?? 0) + 1);
  const end = (owner: string): void => {
    const left = (inFlight.get(owner) ?? 1) - 1;
    if (left > 0) inFlight.set(owner, left);
    else inFlight.delete(owner);
    if (inFlight.size === 0) shown.clear();
  };

  const expect = (owner: string, object: KubeObject, what: Expected["what"]): void => {
    const { uid, resourceVersion } = object.metadata;
    const expected = expectations.get(owner) ?? new Map<string, Expected>();
    expected.set(uid, { what, resourceVersion, since: clock.now() });
    expectations.set(owner, expected);
  };
  const settle = (owner: string, uid: string): void => {
    const expected = expectations.get(owner);
    expected?.delete(uid);
    if (expected?.size === 0) expectations.delete(owner);
  };

  return {
    async writing(owner, write) {
      begin(owner);
      try {
        const written = await write();
        if (!shown.has(versionOf(written))) expect(owner, written, "version");
        return written;
      } finally {
        end(owner);
      }
    },
    async deleting(owner, object, remove) {
      expect(owner, object, "deletion");
      try {
        await remove();
      } catch (error) {
        settle(owner, object.metadata.uid);
        throw error;
      }
    },
    observe(change) {
      const { uid, resourceVersion, deletionTimestamp } = change.object.metadata;
      if (inFlight.size > 0) shown.add(versionOf(change.object));
      for (const [owner, expected] of expectations) {
        const open = expected.get(uid);
        if (open === undefined) continue;
        const leaving = open.what === "deletion" && deletionTimestamp !== undefined;
        const reached = open.what === "version" && open.resourceVersion === resourceVersion;
        if (change.type === "deleted" || leaving || reached) settle(owner, uid);
      }
    },
    fulfilled(owner) {
      if (inFlight.has(owner)) return false;
      for (const [uid, { since }] of expectations.get(owner) ?? []) {
        if (clock.now() - since > timeoutMs) settle(owner, uid);
      }
      return !expectations.has(owner);
    },
    forget: (owner) => void expectations.delete(owner),
  };
};

const versionOf = ({ metadata }: KubeObject): string => `${metadata.uid}@${metadata.resourceVersion}`;
