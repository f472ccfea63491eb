import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../local/process/run.ts";
import { toolPath } from "../../../local/toolchain/manifest.ts";

/** What the scripts print of one system, one setting and one event; see their README. */
interface PeerEvent {
  readonly n: number;
  readonly measured: number;
  readonly p50_ms: number | null;
  readonly max_ms: number | null;
  readonly lost_acks: number;
  readonly dual_acks: number;
}

export interface PeersReport {
  /** By system and setting, then by event. */
  readonly table: Readonly<Record<string, Readonly<Record<string, PeerEvent>>>>;
  /** The same for people. */
  readonly lines: readonly string[];
}

/** A full run takes about 13 minutes on two cores, installing included. */
const deadlineMs = 45 * 60_000;

/** Measures the peers by the scripts in `folder`: a program `run` that takes --json FILE. */
export const runPeers = async (folder: string, log: (message: string) => void): Promise<PeersReport> => {
  log(`the peers, by ${join(folder, "run")}: some 13 minutes`);
  const scratch = await mkdtemp(join(tmpdir(), "peers-"));
  try {
    const file = join(scratch, "peers.json");
    await run(join(folder, "run"), ["--json", file], {
      timeoutMs: deadlineMs,
      env: { ETCD_BIN: toolPath("etcd"), PEERS_TMP: join(scratch, "work") },
      onLine: log,
    });
    const { table } = JSON.parse(await readFile(file, "utf8")) as Pick<PeersReport, "table">;
    return { table, lines: linesOf(table) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

const linesOf = (table: PeersReport["table"]): string[] =>
  Object.entries(table).flatMap(([system, events]) =>
    Object.entries(events).map(
      ([event, { measured, p50_ms, max_ms, lost_acks, dual_acks }]) =>
        `${system.padEnd(28)} ${event.padEnd(18)} ${measured} runs  gap p50 ${p50_ms ?? "?"} max ${max_ms ?? "?"} ms  lost ${lost_acks} dual ${dual_acks}`,
    ),
  );
