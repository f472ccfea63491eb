import type { StreamLine } from "../../api/contract/v1.ts";
import type { StreamView } from "./streamView.ts";

/** Lays one line over what is known. Pure. */
export function applyLine(view: StreamView, line: StreamLine, now: number): StreamView {
  switch (line.type) {
    case "status":
      return { ...view, lastHeardAt: now, status: line.status };
    case "heartbeat": {
      const { status } = view;
      if (status === undefined) return { ...view, lastHeardAt: now };
      const upstream = status.upstream && {
        ...status.upstream,
        connected: line.upstreamConnected,
        lastHeardMs: line.lastHeardFromPrimaryMs,
      };
      return {
        ...view,
        lastHeardAt: now,
        status: {
          ...status,
          durable: line.durable,
          watermarks: { ...status.watermarks, durable: line.durable.seq, committed: line.committed },
          writePath: line.writePath,
          upstream,
        },
      };
    }
  }
}

/** True when a decision could come out differently; an ordinary heartbeat must not wake anybody. */
export function isNews(before: StreamView, after: StreamView, line: StreamLine): boolean {
  if (line.type === "status" || before.lastHeardAt === undefined) return true;
  return (
    before.status?.writePath.stalled !== after.status?.writePath.stalled ||
    before.status?.upstream?.connected !== after.status?.upstream?.connected
  );
}
