import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHistogram } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { FrameReader, readAnswer } from "../../../engine/orders/stream/frameReader.ts";
import { FrameWriter } from "../../../engine/orders/stream/frameWriter.ts";
import { maxAnswerBytes, protocolName, streamPath } from "../../../engine/orders/stream/protocol.ts";
import type { ListenAddress } from "../../../engine/process/config.ts";
import { written } from "../../../engine/testing/engineClient.ts";
import { EngineProcess } from "../../../engine/testing/engineProcess.ts";

export interface AckLoad {
  readonly connections: number;
  /** Orders under way on each connection. */
  readonly inFlight: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

export interface AckResult {
  readonly ackedPerSec: number;
  readonly ackP50Ms: number;
  readonly ackP99Ms: number;
  /** Processor time for one acknowledged order, in microseconds, of each process. */
  readonly cpuMicros: { readonly primary: number; readonly standbys: readonly number[]; readonly client: number };
}

export const defaultLoad: AckLoad = { connections: 2, inFlight: 512, warmUpSeconds: 3, seconds: 10 };

/**
 * Acknowledged orders a second: three engine processes on this machine's disk, fsync on, every order on one standby
 * before its answer, over real sockets. The client runs here too and shares the processors.
 */
export const measureAcks = async (load: AckLoad = defaultLoad): Promise<AckResult> => {
  const root = await mkdtemp(join(tmpdir(), "te-acks-"));
  const ends: (() => unknown)[] = [];
  try {
    const test = { after: (end: () => unknown) => void ends.push(end) };
    const [primary, ...standbys] = await Promise.all(
      ["te-0", "te-1", "te-2"].map((name) => EngineProcess.start(test as never, root, name)),
    );
    if (primary === undefined) throw new Error("three processes were started");
    await primary.client.promote(1, ["te-1", "te-2"]);
    for (const { client } of standbys) await client.follow(1, primary.client);
    await primary.client.accepting();
    return await runLoad(load, primary, standbys);
  } finally {
    for (const end of ends) end();
    await sleep(100);
    await rm(root, { recursive: true, force: true });
  }
};

const runLoad = async (
  load: AckLoad,
  primary: EngineProcess,
  standbys: readonly EngineProcess[],
): Promise<AckResult> => {
  const latencies = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
  const clients = Array.from(
    { length: load.connections },
    (_, index) =>
      new LoadConnection(primary.client.addresses.orders, index, load.inFlight, (us) => latencies.record(us)),
  );
  await sleep(load.warmUpSeconds * 1000);
  const acked = (): number => clients.reduce((sum, client) => sum + client.acked, 0);
  const pids = [primary, ...standbys].map(({ child }) => child.pid ?? 0);
  latencies.reset();
  const before = { at: performance.now(), acked: acked(), cpu: [...pids, process.pid].map(cpuSeconds) };
  await sleep(load.seconds * 1000);
  const seconds = (performance.now() - before.at) / 1000;
  const count = acked() - before.acked;
  const cpu = [...pids, process.pid].map(
    (pid, index) => ((cpuSeconds(pid) - (before.cpu[index] ?? 0)) * 1e6) / Math.max(1, count),
  );
  for (const client of clients) client.close();
  for (const { failure } of clients) if (failure !== null) throw new Error(failure);
  return {
    ackedPerSec: Math.round(count / seconds),
    ackP50Ms: latencies.percentile(50) / 1000,
    ackP99Ms: latencies.percentile(99) / 1000,
    cpuMicros: { primary: cpu[0] ?? 0, standbys: cpu.slice(1, -1), client: cpu.at(-1) ?? 0 },
  };
};

/** Keeps a number of orders under way on one stream. */
class LoadConnection {
  acked = 0;
  failure: string | null = null;
  readonly #socket: Socket;
  readonly #reader = new FrameReader(maxAnswerBytes);
  readonly #writer = new FrameWriter();
  readonly #sentAt: Float64Array;
  readonly #record: (microseconds: number) => void;
  readonly #name: string;
  #sent = 0;
  #upgraded = false;
  #closed = false;
  #random: number;

  constructor(address: ListenAddress, index: number, inFlight: number, record: (microseconds: number) => void) {
    this.#sentAt = new Float64Array(inFlight);
    this.#record = record;
    this.#name = `c${index}-`;
    this.#random = index + 1;
    this.#socket = connect({ ...address, noDelay: true });
    this.#socket.write(
      `GET ${streamPath} HTTP/1.1\r\nHost: ${written(address)}\r\nConnection: Upgrade\r\nUpgrade: ${protocolName}\r\n\r\n`,
    );
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("error", (error) => this.#fail(error.message));
    this.#socket.on("close", () => this.#fail("closed"));
  }

  close(): void {
    this.#closed = true;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    let bytes = chunk;
    if (!this.#upgraded) {
      const end = chunk.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.#upgraded = true;
      bytes = chunk.subarray(end + 4);
    }
    this.#reader.push(bytes);
    const now = performance.now();
    while (this.#reader.advance()) {
      const answer = readAnswer(this.#reader.bytes, this.#reader.start, this.#reader.end);
      switch (answer.type) {
        case "welcome":
          for (let slot = 0; slot < this.#sentAt.length; slot += 1) this.#send(slot, now);
          break;
        case "placed":
          this.acked += 1;
          this.#record(Math.max(1, Math.round((now - (this.#sentAt[answer.correlation] ?? 0)) * 1000)));
          this.#send(answer.correlation, now);
          break;
        case "problem":
          this.#fail(answer.frame.detail);
          break;
        case "found":
        case "cancelled":
        case "heartbeat":
        case "goodbye":
      }
    }
    if (this.#writer.length > 0) this.#socket.write(this.#writer.take());
  }

  /** An order within 50 ticks of a fixed price, so that about half of them trade and the book stays small. */
  #send(slot: number, now: number): void {
    this.#sentAt[slot] = now;
    this.#sent += 1;
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    const side = (this.#random & 0x10000) === 0 ? "buy" : "sell";
    const price = 10_000 + ((this.#random >>> 17) % 100) - 50;
    const quantity = 1 + ((this.#random >>> 24) % 10);
    this.#writer.place(slot, { ...plainOrder, clientId: `${this.#name}${this.#sent}`, side, price, quantity });
  }

  #fail(reason: string): void {
    if (!this.#closed) this.failure ??= reason;
  }
}

const plainOrder = {
  account: "",
  type: "limit",
  stopPrice: 0,
  timeInForce: "gtc",
  postOnly: false,
  selfTrade: "cancelNewest",
  after: 0,
} as const;

const ticksPerSecond = 100;

/** User and system time of a process so far, from Linux's proc(5). */
const cpuSeconds = (pid: number): number => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};
