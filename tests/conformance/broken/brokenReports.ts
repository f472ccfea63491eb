import { type Fields, ok, type Reply, withFields } from "./doctor.ts";
import type { BrokenVariant } from "./variants.ts";

const inStatus = (change: (fields: Fields) => Fields) => ({
  control: {
    reply: (reply: Reply, call: { path: string }): Reply =>
      call.path === "/v1/status" ? withFields(reply, change) : reply,
  },
});

/** Variants that do right and tell it wrong. */
export const brokenReports: readonly BrokenVariant[] = [
  {
    name: "never-blank",
    fails: { "starts-as-blank-standby": /blank false/ },
    does: "claims to hold history when it has none",
    doctor: () => inStatus((fields) => ({ ...fields, blank: false })),
  },
  {
    name: "counts-ahead",
    fails: { "watermarks-in-order": /received (\d+), durable \d+, committed (?!\1\b)/ },
    does: "tells orders as committed that are only received",
    doctor: () =>
      inStatus((fields) => {
        const watermarks = fields["watermarks"] as { received: number };
        return { ...fields, watermarks: { ...watermarks, committed: watermarks.received + 1 } };
      }),
  },
  {
    name: "hears-for-ever",
    fails: { "standby-tells-of-silence": /te-1: role standby/ },
    does: "does not tell how long its primary has been silent",
    doctor: () =>
      inStatus((fields) => {
        const upstream = fields["upstream"] as object | null;
        return upstream === null ? fields : { ...fields, upstream: { ...upstream, connected: true, lastHeardMs: 0 } };
      }),
  },
  {
    name: "always-a-standby",
    fails: { "probes-tell-the-role": /blank: 200 200 503 503 200/ },
    does: "is a standby for probes whatever it is",
    doctor: () => ({
      control: { call: (call) => (call.path === "/v1/standby" ? ok({ ok: true, reason: "standby" }) : call) },
    }),
  },
  {
    name: "bounds-nothing",
    fails: { "standby-bounds-its-lag": /maxLagMs=1: 200/ },
    does: "does not look at the bounds of /v1/standby",
    doctor: () => ({
      control: { call: (call) => (call.path === "/v1/standby" ? { ...call, query: "" } : call) },
    }),
  },
  {
    name: "heart-stands-still",
    fails: { "status-stream-beats": /0 heartbeats/ },
    does: "sends no heartbeats",
    doctor: () => ({ line: (line) => (line.includes('"type":"heartbeat"') ? null : line) }),
  },
  {
    name: "gaps-in-the-journal",
    fails: { "journal-is-the-history": /line 8 is record 1\/9/ },
    does: "leaves out a line of the journal",
    doctor: () => ({
      control: {
        reply: (reply, call) =>
          call.path === "/v1/journal"
            ? {
                ...reply,
                body: reply.body
                  .split("\n")
                  .filter((_, index) => index !== 7)
                  .join("\n"),
              }
            : reply,
      },
    }),
  },
  {
    name: "guesses-hashes",
    fails: { "hash-of-the-future": /hash of record 1000000: 200/ },
    does: "answers the hash of a record that does not exist",
    doctor: () => ({
      control: {
        call: (call) =>
          call.path === "/v1/hash" && call.query === "?seq=1000000"
            ? ok({ seq: 1_000_000, hash: "0".repeat(16) })
            : call,
      },
    }),
  },
  {
    name: "without-metrics",
    fails: { "metrics-for-prometheus": /no sample engine_role/ },
    does: "has no metrics of its role",
    doctor: () => ({
      control: {
        reply: (reply, call) =>
          call.path === "/metrics" ? { ...reply, body: reply.body.replaceAll("engine_role", "role") } : reply,
      },
    }),
  },
];
