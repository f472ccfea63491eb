import type { Clock } from "../../process/clock.ts";
import type { Timers } from "../../process/timers.ts";
import type { Scheduler } from "./scheduler.ts";

/**
 * The life of one process. It may stand still, as a stopped container does: then whatever is for it waits, while disks
 * and networks go on. Once it has ended nothing reaches it, and nothing that its code still does reaches the world.
 */
export class SimulatedProcess {
  readonly #scheduler: Scheduler;
  readonly #onStep: (step: number) => void;
  #state: "running" | "stopped" | "ended" = "running";
  #waiting: (() => void)[] = [];
  #steps = 0;

  /** @param onStep called before each thing that the process does to the world, with how many there were before. */
  constructor(scheduler: Scheduler, onStep: (step: number) => void = () => undefined) {
    this.#scheduler = scheduler;
    this.#onStep = onStep;
  }

  get ended(): boolean {
    return this.#state === "ended";
  }

  get stopped(): boolean {
    return this.#state === "stopped";
  }

  /** To be asked before the process does something to the world: false when it has ended. */
  mayAct(): boolean {
    if (this.#state !== "ended") {
      this.#onStep(this.#steps);
      this.#steps += 1;
    }
    return this.#state !== "ended";
  }

  /** Lets the process notice something: now, when it goes on, or never. */
  deliver(step: () => void): void {
    if (this.#state === "running") step();
    else if (this.#state === "stopped") this.#waiting.push(step);
  }

  /** Like SIGSTOP. */
  stop(): void {
    if (this.#state === "running") this.#state = "stopped";
  }

  /** Like SIGCONT: everything that waited happens now, in order. */
  go(): void {
    if (this.#state !== "stopped") return;
    this.#state = "running";
    for (const step of this.#waiting.splice(0)) this.#scheduler.after(0, () => this.deliver(step));
  }

  end(): void {
    this.#state = "ended";
    this.#waiting = [];
  }

  get clock(): Clock {
    return () => this.#scheduler.now;
  }

  get timers(): Timers {
    const after: Timers["after"] = (milliseconds, step) => {
      let cancelled = false;
      const cancel = this.#scheduler.after(milliseconds, () =>
        this.deliver(() => {
          if (!cancelled) step();
        }),
      );
      return () => {
        cancelled = true;
        cancel();
      };
    };
    return {
      after,
      every(milliseconds, step) {
        let cancel = (): void => undefined;
        const arm = (): void => {
          cancel = after(milliseconds, () => {
            arm();
            step();
          });
        };
        arm();
        return () => cancel();
      },
      soon: (step) => void after(0, step),
    };
  }
}
