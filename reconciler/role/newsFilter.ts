import type { ElectionOutcome } from "../act/index.ts";
import type { Decision, ElectionPlan } from "../decide/index.ts";
import { type Announcement, announceBlocked, announceSuspicion } from "./announcements.ts";

/** A suspicion that is settled sooner is no news: every ordinary failover begins with one. */
const suspicionSettlesMs = 300;
/** The same trouble is told again after so long. */
const repeatMs = 60_000;

/** Tells what is new of what is decided over and over. */
export class NewsFilter {
  #blocked: string | undefined;
  #suspicion: { readonly key: string; readonly since: number; readonly told: boolean } | undefined;
  #election: { readonly key: string; readonly at: number } | undefined;
  #failure: { readonly key: string; readonly at: number } | undefined;

  reset(): void {
    this.#blocked = undefined;
    this.#suspicion = undefined;
    this.#election = undefined;
    this.#failure = undefined;
  }

  /** The announcements that a decision is worth. */
  of({ verdict, blocked }: Decision, now: number): readonly Announcement[] {
    const news: Announcement[] = [];
    const blockedKey = blocked && `${blocked.reason} ${blocked.message}`;
    if (blocked !== undefined && blockedKey !== this.#blocked) news.push(announceBlocked(blocked));
    this.#blocked = blockedKey;

    const announcement = announceSuspicion(verdict);
    if (announcement === undefined) {
      this.#suspicion = undefined;
      return news;
    }
    const key = `${announcement.reason} ${verdict.kind}`;
    const known = this.#suspicion?.key === key ? this.#suspicion : { key, since: now, told: false };
    const isDue = !known.told && now - known.since >= suspicionSettlesMs;
    if (isDue) news.push(announcement);
    this.#suspicion = { ...known, told: known.told || isDue };
    return news;
  }

  /** False for another try of an election that was announced a moment ago. */
  isNewElection({ cause, from }: ElectionPlan, now: number): boolean {
    const key = `${cause} ${from ?? ""}`;
    if (this.#election?.key === key && now < this.#election.at + repeatMs) return false;
    this.#election = { key, at: now };
    return true;
  }

  isNewFailure(outcome: ElectionOutcome, now: number): boolean {
    const key = outcome.kind === "failed" ? `${outcome.step} ${outcome.message}` : outcome.kind;
    if (this.#failure?.key === key && now < this.#failure.at + repeatMs) return false;
    this.#failure = { key, at: now };
    return true;
  }
}
