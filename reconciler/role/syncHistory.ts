/** A standby that came back. */
export interface Rebuilt {
  readonly replica: string;
  readonly seconds: number;
}

/** Remembers which standbys fell out of sync, to tell when and after how long each is back. */
export class SyncHistory {
  readonly #everInSync = new Set<string>();
  readonly #lostAt = new Map<string, number>();

  /** @param inSync names of all replicas that hold everything now, the primary among them. */
  update(all: readonly string[], inSync: ReadonlySet<string>, now: number): readonly Rebuilt[] {
    const rebuilt: Rebuilt[] = [];
    for (const replica of all) {
      const lostAt = this.#lostAt.get(replica);
      if (!inSync.has(replica)) {
        if (this.#everInSync.has(replica) && lostAt === undefined) this.#lostAt.set(replica, now);
        continue;
      }
      this.#everInSync.add(replica);
      if (lostAt === undefined) continue;
      this.#lostAt.delete(replica);
      rebuilt.push({ replica, seconds: (now - lostAt) / 1000 });
    }
    return rebuilt;
  }
}
