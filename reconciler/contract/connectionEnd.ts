/**
 * Why a connection to an engine ended or never began. The difference matters: a refused or
 * reset connection says that a process went away, a timeout says nothing about it.
 */
export type ConnectionEnd =
  /** Nobody listens: the process is not there. */
  | "refused"
  /** The peer's kernel dropped the connection: the process died or its socket was torn down. */
  | "reset"
  /** The peer ended the connection in good order. */
  | "closed"
  /** Nothing was heard in time. */
  | "timeout"
  /** No route to the host, or its name does not resolve. */
  | "unreachable"
  /** The engine answered, but not with what the contract says. */
  | "rejected";

const endByCode: Readonly<Record<string, ConnectionEnd>> = {
  ECONNREFUSED: "refused",
  ECONNRESET: "reset",
  EPIPE: "reset",
  UND_ERR_SOCKET: "reset",
  UND_ERR_CLOSED: "closed",
  UND_ERR_DESTROYED: "closed",
  ERR_STREAM_PREMATURE_CLOSE: "reset",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  UND_ERR_ABORTED: "timeout",
  ABORT_ERR: "timeout",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ENOTFOUND: "unreachable",
  EAI_AGAIN: "unreachable",
};

/** Reads the cause out of whatever the HTTP client threw; what is not known counts as `unreachable`. */
export function connectionEndOf(error: unknown): ConnectionEnd {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 4; cause = cause.cause, depth += 1) {
    if (cause.name === "TimeoutError" || cause.name === "AbortError") return "timeout";
    const code = "code" in cause && typeof cause.code === "string" ? endByCode[cause.code] : undefined;
    if (code !== undefined) return code;
  }
  return "unreachable";
}
