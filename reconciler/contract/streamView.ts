import type { EngineStatus } from "../../api/contract/v1.ts";
import type { ConnectionEnd } from "./connectionEnd.ts";

/** Where the connection of a status stream stands; `since` is monotonic milliseconds. */
export type StreamConnection =
  | { readonly kind: "connecting"; readonly since: number }
  | { readonly kind: "live"; readonly since: number }
  /** A new attempt is under way or due; `since` is when it was lost, not when the last attempt failed. */
  | { readonly kind: "ended"; readonly since: number; readonly reason: ConnectionEnd };

/** What the status stream of one pod says, as of now. Immutable. */
export interface StreamView {
  readonly connection: StreamConnection;
  /** Monotonic milliseconds of the last line; undefined when none ever came. */
  readonly lastHeardAt: number | undefined;
  /** The last full status with the heartbeats since laid over it; true as of `lastHeardAt`. */
  readonly status: EngineStatus | undefined;
}
