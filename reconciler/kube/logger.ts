/** The part of a pino logger that this library uses. */
export interface KubeLogger {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** For callers that want no logs. */
export const silentLogger: KubeLogger = { warn: () => undefined, error: () => undefined };
