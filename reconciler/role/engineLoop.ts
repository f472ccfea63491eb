/** observe -> decide -> act for one engine, over and over; never held up by another engine or by Pulumi. */
import type { LastFailover } from "../../api/tradingEngine/index.ts";
import {
  type ActWorld,
  type ElectionOutcome,
  Granting,
  runElection,
  runRecording,
  runRuleChange,
  runTending,
  StepBackoff,
  stepKey,
} from "../act/index.ts";
import {
  type Decision,
  decide,
  type ElectionPlan,
  type Plan,
  type RecordPlan,
  type TendStep,
} from "../decide/index.ts";
import type { RoleMetrics } from "../metrics/index.ts";
import type { EngineObserver, EngineSnapshot, ShapeView } from "../observe/index.ts";
import { buildStatus, isWorthPublishing, type StatusWriter } from "../status/index.ts";
import {
  type Announcement,
  announceElected,
  announceFailure,
  announceRebuilt,
  announceStart,
  announceTended,
} from "./announcements.ts";
import { kindOf } from "./causes.ts";
import { ElectionPacing } from "./electionPacing.ts";
import { LeaseExpectation } from "./leaseExpectation.ts";
import { NewsFilter } from "./newsFilter.ts";
import { SyncHistory } from "./syncHistory.ts";
import { Waker } from "./waker.ts";

export interface LoopLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface EngineLoopOptions {
  readonly observer: Pick<EngineObserver, "key" | "snapshot">;
  /** Calls and writes for the engine with this uid. */
  readonly worldOf: (uid: string) => ActWorld;
  readonly status: Pick<StatusWriter, "current" | "offer" | "reset">;
  readonly shapeOf: () => ShapeView | undefined;
  readonly announce: (announcement: Announcement) => void;
  readonly metrics: Pick<RoleMetrics, "electionEnded" | "stepFailed">;
  readonly logger: LoopLogger;
  readonly now: () => number;
  readonly wall: () => Date;
  /** While false, the loop only keeps its view warm. */
  readonly isLeading: () => boolean;
  readonly newId: () => string;
}

/** While the engine is gone or cannot be understood. */
const idleMs = 5_000;
/** Until an informer shows what was just written. */
const cacheLagMs = 20;
/** After a pass that failed. */
const retryMs = 250;

export class EngineLoop {
  readonly #options: EngineLoopOptions;
  readonly #waker = new Waker();
  readonly #backoff = new StepBackoff();
  readonly #granting = new Granting();
  readonly #expected = new LeaseExpectation();
  readonly #news = new NewsFilter();
  readonly #pacing = new ElectionPacing();
  #syncHistory = new SyncHistory();
  #lastFailover: LastFailover | undefined;
  #lastStallFailoverAt: number | undefined;
  #decision: Decision | undefined;
  #snapshot: EngineSnapshot | undefined;
  #passing: Promise<number> | undefined;

  constructor(options: EngineLoopOptions) {
    this.#options = options;
  }

  /** Something may have changed. */
  wake(): void {
    this.#waker.wake();
  }

  /** What was seen and decided last. */
  last(): { readonly snapshot: EngineSnapshot; readonly decision: Decision } | undefined {
    if (this.#snapshot === undefined || this.#decision === undefined) return undefined;
    return { snapshot: this.#snapshot, decision: this.#decision };
  }

  /** Another replica may have acted meanwhile: what this one remembers of its own acts is out of date. */
  forgetActs(): void {
    this.#lastFailover = undefined;
    this.#options.status.reset();
    this.#syncHistory = new SyncHistory();
    this.#news.reset();
  }

  /** Works until `signal` aborts. What fails is logged, and the next pass looks again. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let waitMs = retryMs;
      try {
        this.#passing = this.#pass();
        waitMs = await this.#passing;
      } catch (error) {
        this.#options.logger.warn({ err: error }, "a pass of the role lane failed; it is repeated");
      }
      await this.#waker.sleep(waitMs, signal);
    }
  }

  /** Resolves once the pass that is under way has ended, if there is one. */
  async settled(): Promise<void> {
    await this.#passing?.catch(() => undefined);
  }

  /** @returns after how many milliseconds the next pass is due at the latest. */
  async #pass(): Promise<number> {
    const { observer, shapeOf, now, isLeading } = this.#options;
    const snapshot = observer.snapshot({ shape: shapeOf(), lastStallFailoverAt: this.#lastStallFailoverAt });
    this.#snapshot = snapshot;
    if (snapshot === undefined) return idleMs;
    if (this.#expected.isPending(snapshot.lease, now())) return cacheLagMs;
    const decision = decide(snapshot, now());
    this.#decision = decision;
    if (!isLeading()) return decision.recheckMs;

    for (const announcement of this.#news.of(decision, now())) this.#options.announce(announcement);
    this.#publish(snapshot, decision);
    const world = this.#options.worldOf(snapshot.uid);
    const granted = this.#grant(decision, world);
    const waitMs = await this.#carryOut(decision.plan, decision.recheckMs, world);
    await granted;
    return waitMs;
  }

  async #grant({ grant }: Decision, world: ActWorld): Promise<void> {
    const error = await this.#granting.renew(grant, world);
    if (error === undefined) return;
    this.#options.metrics.stepFailed("grant");
    this.#options.logger.warn({ err: error }, "the primary could not be given its grant; it is tried again");
  }

  async #carryOut(plan: Plan, recheckMs: number, world: ActWorld): Promise<number> {
    switch (plan.kind) {
      case "rest":
        return recheckMs;
      case "tend":
        await this.#tend(plan.steps, world);
        return recheckMs;
      case "record":
        await runRecording(plan, world);
        this.#expected.expect(plan.epoch, plan.primary, this.#options.now());
        this.#options.logger.info({ primary: plan.primary, epoch: plan.epoch }, "recorded a primary that already led");
        this.#afterRecording(plan);
        return cacheLagMs;
      case "changeRule":
        if (!this.#backoff.admit(`rule ${plan.version}`, this.#options.now())) return recheckMs;
        await runRuleChange(plan, world);
        this.#options.logger.info({ rule: plan.to, epoch: plan.epoch }, "changed the sync set of the primary");
        return cacheLagMs;
      case "elect":
        return this.#elect(plan, world);
    }
  }

  async #elect(plan: ElectionPlan, world: ActWorld): Promise<number> {
    const { announce, logger, metrics, now, observer, newId } = this.#options;
    const tooEarlyMs = this.#pacing.delayOf(plan.cause, now());
    if (tooEarlyMs > 0) return tooEarlyMs;
    const fields = { reconcileId: newId(), cause: plan.cause, from: plan.from, epoch: plan.epoch };
    logger.info(fields, "electing a primary");
    if (this.#news.isNewElection(plan, now())) announceStart(plan).forEach(announce);
    const outcome = await runElection(plan, world);
    logger.info({ ...fields, outcome }, "the election ended");
    metrics.electionEnded({
      engine: observer.key,
      kind: kindOf(plan.cause),
      cause: plan.cause,
      outcome: outcome.kind,
      phases: outcome.kind === "elected" ? { ...outcome.phases } : undefined,
    });
    if (outcome.kind === "elected") return this.#afterElection(plan, outcome);
    if (outcome.kind === "superseded") return cacheLagMs;
    if (this.#news.isNewFailure(outcome, now())) announceFailure(plan, outcome).forEach(announce);
    return this.#pacing.failed(plan.cause, now());
  }

  /** Whoever began this election did not live to see its end: its phases are not known. */
  #afterRecording({ primary, epoch }: RecordPlan): void {
    this.#lastFailover = { time: this.#options.wall().toISOString(), to: primary, reason: "Resumed", epoch };
  }

  #afterElection(plan: ElectionPlan, outcome: ElectionOutcome & { readonly kind: "elected" }): number {
    const { announce, now, wall } = this.#options;
    const { primary, epoch, phases } = outcome;
    this.#pacing.succeeded();
    this.#expected.expect(epoch, primary, now());
    this.#lastFailover = {
      time: wall().toISOString(),
      ...(plan.from === undefined ? {} : { from: plan.from }),
      to: primary,
      reason: plan.cause,
      epoch,
      phases,
    };
    if (plan.cause === "WriteStalled") this.#lastStallFailoverAt = now();
    announceElected(plan, outcome).forEach(announce);
    return cacheLagMs;
  }

  async #tend(steps: readonly TendStep[], world: ActWorld): Promise<void> {
    const { announce, logger, metrics, now } = this.#options;
    this.#backoff.keepOnly(new Set(steps.map(stepKey)));
    const due = steps.filter((step) => this.#backoff.admit(stepKey(step), now()));
    if (due.length === 0) return;
    for (const result of await runTending(due, world)) {
      announceTended(result).forEach(announce);
      const { step, error } = result;
      if (error === undefined) {
        logger.info({ step: stepKey(step) }, "corrected");
        continue;
      }
      metrics.stepFailed(step.kind);
      logger.warn({ step: stepKey(step), err: error }, "a correction failed; it is tried again");
    }
  }

  #publish(snapshot: EngineSnapshot, decision: Decision): void {
    const { announce, now, status: writer, wall } = this.#options;
    if (!isWorthPublishing(decision, snapshot, now())) return;
    const before = writer.current(snapshot.uid, snapshot.published);
    const status = buildStatus({
      snapshot,
      decision,
      now: now(),
      wall: wall().toISOString(),
      before,
      lastFailover: this.#lastFailover,
    });
    writer.offer(snapshot.uid, before, status);
    const replicas = status.replicas ?? [];
    const inSync = new Set(replicas.filter((replica) => replica.inSync).map(({ name }) => name));
    const names = replicas.map(({ name }) => name);
    for (const { replica, seconds } of this.#syncHistory.update(names, inSync, now()))
      announce(announceRebuilt(replica, seconds));
  }
}
