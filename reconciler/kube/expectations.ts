/** What a controller wrote and its cache does not show yet, so that a stale cache never makes it do the same twice. */
import { type Clock, systemClock } from "./clock.ts";
import type { Change } from "./informer.ts";
import type { KubeObject } from "./kubeObject.ts";

export interface Expectations {
  /** `owner` has created or changed `object`, as the API server answered: its cache must show this version. */
  written(owner: string, object: KubeObject): void;
  /** `owner` has asked for the deletion of `object`. */
  deleted(owner: string, object: KubeObject): void;
  /** To be fed with every change of the objects' informer. */
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

export const createExpectations = (
  options: { readonly clock?: Clock; readonly timeoutMs?: number } = {},
): Expectations => {
  const clock = options.clock ?? systemClock;
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const owners = new Map<string, Map<string, Expected>>();

  const expect = (owner: string, object: KubeObject, what: Expected["what"]): void => {
    const { uid, resourceVersion } = object.metadata;
    const expected = owners.get(owner) ?? new Map<string, Expected>();
    expected.set(uid, { what, resourceVersion, since: clock.now() });
    owners.set(owner, expected);
  };

  return {
    written: (owner, object) => expect(owner, object, "version"),
    deleted: (owner, object) => expect(owner, object, "deletion"),
    observe(change) {
      const { uid, resourceVersion, deletionTimestamp } = change.object.metadata;
      for (const [owner, expected] of owners) {
        const open = expected.get(uid);
        if (open === undefined) continue;
        const gone = change.type === "deleted" || (open.what === "deletion" && deletionTimestamp !== undefined);
        if (!gone && (open.what === "deletion" || open.resourceVersion !== resourceVersion)) continue;
        expected.delete(uid);
        if (expected.size === 0) owners.delete(owner);
      }
    },
    fulfilled(owner) {
      const expected = owners.get(owner);
      if (expected === undefined) return true;
      for (const [uid, { since }] of expected) if (clock.now() - since > timeoutMs) expected.delete(uid);
      if (expected.size > 0) return false;
      owners.delete(owner);
      return true;
    },
    forget: (owner) => void owners.delete(owner),
  };
};
