import { setTimeout as sleep } from "node:timers/promises";

import { type StreamLine, streamLine } from "../../../api/contract/v1.ts";
import type { Engine } from "../engine.ts";
import { kitToken } from "../hosts/engineHost.ts";
import { highestSeq, startLoad, untilAcked } from "../load.ts";
import type { Rule } from "../rule.ts";
import { done, must, refused, Violation } from "../violation.ts";

/** Status codes of the probes, which need no token. */
const probes = async (engine: Engine): Promise<string> => {
  const paths = ["/livez", "/startupz", "/readyz", "/v1/primary", "/v1/standby"];
  const codes: number[] = [];
  for (const path of paths) codes.push((await engine.get(path, "")).status);
  return codes.join(" ");
};

/** Lines of the status stream while `during` runs. */
const streamed = async (engine: Engine, heartbeatMs: number, during: () => Promise<unknown>): Promise<StreamLine[]> => {
  const abort = new AbortController();
  const url = `http://${engine.run.addresses.control}/v1/status/stream?heartbeatMs=${heartbeatMs}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${kitToken}` }, signal: abort.signal });
  must(response.status === 200, `GET /v1/status/stream: ${response.status}`, "200");
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString("utf8");
  })().catch(() => undefined);
  await during();
  abort.abort();
  await reading;
  const whole = text.split("\n").slice(0, -1);
  return whole.map((line) => {
    const parsed = streamLine.safeParse(JSON.parse(line));
    if (parsed.success) return parsed.data;
    throw new Violation(`line of the stream: ${line.slice(0, 200)}`, "a status or a heartbeat with all its fields");
  });
};

/** Waits for a probe to answer `wanted`. */
const untilProbe = async (engine: Engine, path: string, wanted: number): Promise<void> => {
  const end = performance.now() + 5_000;
  let status = 0;
  while (performance.now() < end) {
    ({ status } = await engine.get(path, ""));
    if (status === wanted) return;
    await sleep(3);
  }
  throw new Violation(`${engine.instance}: GET ${path}: ${status}`, `${wanted}`);
};

export const observeRules: readonly Rule[] = [
  {
    id: "probes-tell-the-role",
    title: "Probes tell the role by status code, without a token, and only the one true primary is one",
    prevents: "traffic goes to a replica that cannot take it; a working replica is restarted",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      const expect = async (what: string, engine: Engine, codes: string): Promise<void> => {
        const seen = await probes(engine);
        const names = "(livez startupz readyz primary standby)";
        must(seen === codes, `${what}: ${seen} ${names}`, `${what}: ${codes} ${names}`);
      };
      await expect("blank", primary, "200 200 503 503 503");
      await lab.elect(1, [primary, standby]);
      await standby.until("the standby is ready", ({ ready }) => ready);
      await expect("primary", primary, "200 200 200 200 503");
      await expect("standby", standby, "200 200 200 503 200");
      done("fence the standby", await standby.fence(2));
      await primary.until("the primary lost its standby", ({ ready }) => !ready);
      await expect("primary without its standby", primary, "200 200 503 503 503");
      done("fence the primary", await primary.fence(2));
      await expect("fenced", primary, "200 200 503 503 503");
      return "livez and startupz 200 all along; primary, standby and readyz by role, 503 without a standby in sync";
    },
  },
  {
    id: "standby-bounds-its-lag",
    title: "A standby answers 503 to /v1/standby when it is further behind than asked",
    prevents: "readers are sent to a replica that shows an old book",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      await untilProbe(standby, "/v1/standby?maxLagRecords=0&maxLagMs=5000", 200);
      // Shorter than the time between two heartbeats: between them the primary was last heard longer ago.
      await untilProbe(standby, "/v1/standby?maxLagMs=1", 503);
      await untilProbe(standby, "/v1/standby?maxLagMs=5000", 200);
      refused("a bound that is no number", await standby.get("/v1/standby?maxLagMs=soon", ""), "BAD_REQUEST");
      return "200 within a bound of 5 s, 503 beyond one of 1 ms, 400 for no number";
    },
  },
  {
    id: "standby-tells-of-silence",
    title: "A standby's status tells how long its primary has been silent",
    prevents: "the operator finds out about a dead primary only by its own connection",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      await primary.signal("SIGSTOP");
      const silent = await standby.until(
        "the silence shows in upstream",
        ({ upstream }) => upstream !== null && ((upstream.lastHeardMs ?? 0) > 500 || !upstream.connected),
      );
      const seen = `lastHeardMs ${Math.round(silent.upstream?.lastHeardMs ?? 0)}, connected ${silent.upstream?.connected}`;
      await primary.signal("SIGCONT");
      await standby.until(
        "the primary is heard again",
        ({ upstream }) => upstream?.connected === true && (upstream.lastHeardMs ?? Infinity) < 500,
      );
      return `${seen}, and heard again later`;
    },
  },
  {
    id: "status-stream-beats",
    title: "The status stream begins with a full status, beats as asked, and tells changes at once",
    prevents: "a failover waits for the next poll",
    async check(lab) {
      const engine = await lab.start("te-0");
      let changedAfterMs = 0;
      const lines = await streamed(engine, 50, async () => {
        await sleep(1_500);
        done("fence", await engine.fence(3));
        await sleep(500);
      });
      must(lines[0]?.type === "status", `first line ${JSON.stringify(lines[0]).slice(0, 80)}`, "first line a status");
      const beats = lines.filter(({ type }) => type === "heartbeat").length;
      must(beats >= 10, `${beats} heartbeats in 2 s at 50 ms`, "at least 10 heartbeats");
      const told = lines.findIndex((line) => line.type === "status" && line.status.epoch.promised === 3);
      must(told > 0, "no status line with the promise", "a status line with promised 3");
      changedAfterMs = told;
      return `status first, ${beats} heartbeats in 2 s, the fence told in line ${changedAfterMs + 1} of ${lines.length}`;
    },
  },
  {
    id: "journal-is-the-history",
    title: "The journal over HTTP shows the committed history without gaps, in order, from where it is asked",
    prevents: "an audit that cannot prove which orders exist",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      const load = startLoad(primary);
      await untilAcked(load, 50);
      const acks = await load.stop();
      const lines = await primary.journal();
      for (const [index, { seq, epoch }] of lines.entries()) {
        must(
          seq === index + 1 && epoch === 1,
          `line ${index + 1} is record ${epoch}/${seq}`,
          "records 1, 2, 3, ... of epoch 1",
        );
      }
      for (const { clientId, seq, orderId } of acks) {
        const line = lines[seq - 1];
        const same = line?.clientId === clientId && line.orderId === orderId;
        must(same, `record ${seq}: ${JSON.stringify(line)}`, `record ${seq}: ${clientId} ${orderId}`);
      }
      const middle = Math.ceil(highestSeq(acks) / 2);
      const [first] = await primary.journal(middle);
      must(first?.seq === middle, `fromSeq=${middle} begins at ${first?.seq}`, `begins at ${middle}`);
      return `${lines.length} records without a gap, ${acks.length} acknowledged orders each in its place`;
    },
  },
  {
    id: "hash-of-the-future",
    title: "The hash of a record that is not applied is refused after a while, never guessed",
    prevents: "replicas are held to be equal before they were compared",
    async check(lab) {
      const engine = await lab.start("te-0");
      const answer = await engine.get("/v1/hash?seq=1000000");
      must(answer.status === 408, `hash of record 1000000: ${answer.status}`, "408");
      refused("hash without a number", await engine.get("/v1/hash?seq=last"), "BAD_REQUEST");
      return "408 for a record that does not exist, 400 for no number";
    },
  },
  {
    id: "metrics-for-prometheus",
    title: "/metrics gives role, epoch and watermarks in Prometheus' text format, without a token",
    prevents: "a failover that no dashboard shows",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      const answer = await primary.get("/metrics", "");
      must(answer.status === 200, `GET /metrics: ${answer.status}`, "200");
      must(answer.contentType.startsWith("text/plain"), `content type ${answer.contentType}`, "text/plain");
      const samples = answer.text.split("\n");
      for (const sample of ['engine_role{role="primary"} 1', 'engine_epoch{kind="current"} 1']) {
        must(samples.includes(sample), `no sample ${sample}`, sample);
      }
      for (const name of ["engine_seq", "engine_sync_satisfied", "engine_ack_latency_seconds_bucket"]) {
        must(
          samples.some((line) => line.startsWith(name)),
          `no metric ${name}`,
          `metric ${name}`,
        );
      }
      return "engine_role, engine_epoch, engine_seq, engine_sync_satisfied and engine_ack_latency_seconds are there";
    },
  },
];
