import { once } from "node:events";
import { rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";

import { type Doctor, fieldsOf, get, isPost, ok, withFields } from "./doctor.ts";
import type { BrokenVariant } from "./variants.ts";

const forget =
  (name: string): Required<Pick<Doctor, "beforeStart">>["beforeStart"] =>
  ({ dataDir }) =>
    rmSync(join(dataDir, name), { recursive: true, force: true });

/** Listens in front of host:port and passes bytes on after `delayMs`: what is under way when an end dies is lost. */
const delayed = async (target: string, delayMs: number): Promise<string> => {
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(target) ?? [];
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    passLate(near, far, delayMs);
    passLate(far, near, delayMs);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const passLate = (from: Socket, to: Socket, delayMs: number): void => {
  from.on("data", (chunk) => setTimeout(() => (from.destroyed ? undefined : to.write(chunk)), delayMs));
  from.on("error", () => from.destroy());
  from.on("close", () => to.destroy());
};

/** Counts fewer copies than asked for, while those of the `late` replicas come long after the acknowledgement. */
const acknowledgesEarly = (missing: number, late: readonly string[]): Doctor => ({
  control: {
    async call(call, { instance }) {
      if (isPost(call, "/v1/promote")) {
        return withFields(call, (fields) => {
          const k = Math.max(0, Number(fields["k"]) - missing);
          // A replica that is told of no others needs no grant either.
          return { ...fields, k, ...(k === 0 ? { members: [] } : {}) };
        });
      }
      if (!late.includes(instance) || !isPost(call, "/v1/follow")) return call;
      const upstream = fieldsOf(call)["upstream"] as { replication: string };
      const replication = await delayed(upstream.replication, 5_000);
      return withFields(call, (fields) => ({ ...fields, upstream: { ...upstream, replication } }));
    },
  },
});

/** Variants that lose, keep or copy the history wrongly. */
export const brokenHistory: readonly BrokenVariant[] = [
  {
    name: "forgets-promises",
    fails: { "promise-survives-kill": /fence of epoch 4 after fence of 5 and KILL: 200/ },
    does: "keeps the promised epoch in memory",
    doctor: () => ({ beforeStart: forget("promised-epoch") }),
  },
  {
    name: "forgets-history",
    fails: { "acked-survives-restart": /acknowledged as \d+, in the journal at \[\]/ },
    does: "keeps the journal in memory",
    doctor: () => ({ beforeStart: forget("journal") }),
  },
  {
    name: "resumes-as-primary",
    fails: { "restart-is-standby": /role primary/ },
    does: "leads again after a restart, without being asked",
    doctor: () => ({
      async afterStart(place) {
        const { epoch, blank } = fieldsOf(await place.ask("control", get("/v1/status")));
        if (blank === true) return;
        const body = JSON.stringify({
          clusterUid: "trading/conformance",
          epoch: (epoch as { promised: number }).promised + 1,
          opId: "by-itself",
          minPosition: { epoch: 0, seq: 0 },
          members: ["te-1"],
          k: 1,
          resume: "open",
        });
        await place.ask("control", { ...get("/v1/promote"), method: "POST", body });
      },
    }),
  },
  {
    name: "one-copy-short",
    fails: { "acked-is-on-k-standbys": /te-2 durable \d+, acknowledged \d+/ },
    does: "acknowledges with one copy less than asked for",
    doctor: () => acknowledgesEarly(1, ["te-2"]),
  },
  {
    name: "copies-later",
    fails: { "acked-survives-failover": /acknowledged as \d+, in the journal at \[\]/ },
    does: "acknowledges first and replicates then",
    doctor: () => acknowledgesEarly(Number.POSITIVE_INFINITY, ["te-1", "te-2"]),
  },
  {
    name: "never-follows",
    fails: { "late-standby-catches-up": /te-2: .*not told whom to follow/ },
    does: "te-2 agrees to follow and does not",
    doctor: () => ({
      control: {
        call: (call, { instance }) =>
          instance === "te-2" && isPost(call, "/v1/follow")
            ? ok({ instance, epoch: 1, durable: { epoch: 0, seq: 0 } })
            : call,
      },
    }),
  },
  {
    name: "drifts-apart",
    fails: { "replicas-have-one-state": /at record 2: \w+te-0 / },
    does: "has a state of its own on every replica",
    doctor: () => ({
      control: {
        reply: (reply, call, { instance }) =>
          call.path === "/v1/hash"
            ? withFields(reply, (fields) => ({ ...fields, hash: `${String(fields["hash"])}${instance}` }))
            : reply,
      },
    }),
  },
  {
    name: "cuts-in-silence",
    fails: { "tail-is-cut-and-told": /cutTails 0/ },
    does: "does not tell that it cut a tail",
    doctor: () => ({
      control: {
        reply: (reply, call) =>
          call.path === "/v1/status"
            ? withFields(reply, (fields) => ({ ...fields, journal: { ...(fields["journal"] as object), cutTails: 0 } }))
            : reply,
      },
    }),
  },
];
