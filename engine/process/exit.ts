/** Exit codes of the engine process: the operator decides by them what a death means. */
export const exitCodes = {
  drained: 0,
  /** Environment or configuration file unusable; a restart with the same input fails again. */
  config: 64,
  /** Applying a committed record failed: every replica would fail at the same record. */
  applyFault: 70,
  diskFull: 71,
  /** A write or fsync failed: what the disk holds is unknown, so it is never tried again. */
  io: 74,
  /** The data directory is in use by a living process; retry later. */
  inUse: 75,
  corrupt: 76,
  /** The data directory belongs to another engine or another replica. */
  identity: 77,
  formatTooNew: 78,
  /** A primary's history contradicts what this replica has applied. */
  diverged: 79,
} as const;

export type ExitReason = Exclude<keyof typeof exitCodes, "drained">;

/** Ends the process with the exit code of `reason`. */
export class FatalError extends Error {
  readonly reason: ExitReason;
  /** With `applyFault`: the record at fault. */
  readonly seq: number | undefined;

  constructor(reason: ExitReason, message: string, options: ErrorOptions & { readonly seq?: number } = {}) {
    super(message, options);
    this.name = "FatalError";
    this.reason = reason;
    this.seq = options.seq;
  }

  get exitCode(): number {
    return exitCodes[this.reason];
  }
}

/** The fatal error that a failed write, fsync or rename of `what` means. */
export const diskFailure = (what: string, cause: unknown): FatalError => {
  if (cause instanceof FatalError) return cause;
  const full = isErrno(cause) && (cause.code === "ENOSPC" || cause.code === "EDQUOT");
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new FatalError(full ? "diskFull" : "io", `${what}: ${detail}`, { cause });
};

/** Narrows to an error of the operating system. */
export const isErrno = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && "code" in error;
