import type { Applied, Exchange } from "../../exchange/exchange.ts";
import type { JournalRecord } from "../../journal/record.ts";
import type { Answer, AppliedRecord, EpochPromise, History, JournaledRecord } from "../invariants/history.ts";

/** Writes down what happens in a run. */
export class Recorder {
  readonly answers: Answer[] = [];
  readonly promises: EpochPromise[] = [];
  readonly #applied: AppliedRecord[] = [];
  readonly #mixedClusters: { from: string; to: string }[] = [];

  get applied(): readonly AppliedRecord[] {
    return this.#applied;
  }

  noteApplied(instance: string, start: number, record: JournalRecord, effect: Applied, exchange: Exchange): void {
    const { epoch, seq } = record;
    this.#applied.push({
      instance,
      start,
      epoch,
      seq,
      hash: exchange.lastHash.hash,
      effect: effectOf(effect),
      trades: effect.effect.trades.map(({ maker, price, quantity }) => ({ maker: maker.seq, price, quantity })),
      bid: exchange.book.bestPrice("buy") ?? null,
      ask: exchange.book.bestPrice("sell") ?? null,
    });
  }

  noteMixedClusters(from: string, to: string): void {
    this.#mixedClusters.push({ from, to });
  }

  history(journals: ReadonlyMap<string, readonly JournaledRecord[]>): History {
    const { answers, promises } = this;
    return { journals, answers, promises, applied: this.#applied, mixedClusters: this.#mixedClusters };
  }
}

const effectOf = (effect: Applied): string => {
  switch (effect.kind) {
    case "order":
      return effect.duplicate ? "duplicate" : effect.order.answer.status;
    case "epochStart":
    case "cancelled":
    case "nothingToCancel":
    case "clientIdReused":
      return effect.kind;
  }
};

export const journaled = ({ epoch, seq, command }: JournalRecord): JournaledRecord => {
  switch (command.kind) {
    case "epochStart":
      return { epoch, seq, kind: command.kind, clientId: null, terms: null };
    case "cancel":
    case "replace":
      return { epoch, seq, kind: command.kind, clientId: command.clientId, terms: null };
    case "order": {
      const { clientId, side, quantity } = command;
      const limit = command.type === "market" ? null : command.price;
      return { epoch, seq, kind: command.kind, clientId, terms: { side, limit, quantity } };
    }
  }
};
