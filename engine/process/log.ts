/** Writes one JSON object a line. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** A log whose every line carries `context`; `write` gets each line with its newline. */
export const createLog = (context: LogFields, write: (line: string) => void): Log => {
  const line =
    (level: string) =>
    (message: string, fields: LogFields = {}) => {
      write(`${JSON.stringify({ time: new Date().toISOString(), level, ...context, ...fields, message })}\n`);
    };
  return { info: line("info"), warn: line("warn"), error: line("error") };
};

/** Message of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
