import type { EngineStatus } from "../control/status.ts";
import type { Applied, Exchange } from "../exchange/exchange.ts";
import type { OrderOutcome } from "../replica/orderDesk.ts";
import { counter, type Family, gauge, Histogram, LabelledCounter, renderFamily } from "./exposition.ts";
import { MarketMetrics } from "./marketMetrics.ts";

const matchBounds = [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 5e-4, 1e-3, 1e-2, 0.1];
const diskBounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** What the engine counts as it goes; everything else is read from the status when it is asked for. */
export class EngineMetrics {
  readonly #match = new Histogram("engine_match_latency_seconds", "Time to apply one record to the book.", matchBounds);
  readonly #ack = new Histogram("engine_ack_latency_seconds", "From order received to answer sent.", diskBounds);
  readonly #fsync = new Histogram("engine_fsync_seconds", "Time to write and sync one journal batch.", diskBounds);
  readonly #market = new MarketMetrics();
  readonly #answers = new LabelledCounter("outcome");

  applied(applied: Applied, { book }: Exchange, seconds: number): void {
    this.#match.observe(seconds);
    this.#market.applied(applied, book);
  }

  synced(seconds: number): void {
    this.#fsync.observe(seconds);
  }

  answered(outcome: OrderOutcome["kind"] | "notPrimary" | "invalid", seconds: number): void {
    this.#answers.add(outcome);
    if (outcome === "placed") this.#ack.observe(seconds);
  }

  render(status: EngineStatus, { book }: Exchange): string {
    return [
      this.#match.render(),
      this.#ack.render(),
      this.#fsync.render(),
      this.#market.render(book),
      ...[...this.#counted(), ...readFrom(status)].map(renderFamily),
    ].join("");
  }

  #counted(): Family[] {
    return [
      counter("engine_answers_total", "Answers given to clients, by outcome.", this.#answers.samples()),
      counter("engine_unknown_acks_total", "Orders sequenced here whose fate their client was not told.", [
        { value: this.#answers.of("unknown") },
      ]),
    ];
  }
}

const flag = (value: boolean): number => (value ? 1 : 0);

const readFrom = (status: EngineStatus): Family[] => [
  gauge("engine_role", "1 for the role this replica has.", [{ labels: { role: status.role }, value: 1 }]),
  gauge("engine_epoch", "Epochs, by kind.", [
    { labels: { kind: "current" }, value: status.epoch.current },
    { labels: { kind: "promised" }, value: status.epoch.promised },
  ]),
  gauge(
    "engine_seq",
    "Sequence numbers, by watermark.",
    Object.entries(status.watermarks).map(([watermark, value]) => ({ labels: { watermark }, value })),
  ),
  gauge("engine_ready", "Whether this replica is ready.", [{ value: flag(status.ready) }]),
  gauge(
    "engine_sync_satisfied",
    "Whether enough standbys are in sync; on a primary only.",
    status.sync === null ? [] : [{ value: flag(status.sync.satisfied) }],
  ),
  gauge(
    "engine_replication_lag_records",
    "Records that a standby has not made durable yet; on a primary only.",
    (status.sync?.members ?? []).map(({ instance, durableSeq }) => ({
      labels: { peer: instance },
      value: Math.max(0, status.watermarks.received - durableSeq),
    })),
  ),
  gauge("engine_write_stalled", "Whether a write takes longer than its bound.", [
    { value: flag(status.writePath.stalled) },
  ]),
  gauge("engine_journal_bytes", "Size of the journal.", [{ value: status.journal.bytes }]),
  gauge("engine_cut_tails", "Tails cut from this replica's journal.", [{ value: status.journal.cutTails }]),
  gauge("engine_disk_free_bytes", "Free space on the data volume.", [{ value: status.diskFreeBytes }]),
];
