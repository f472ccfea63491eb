/**
 * Runs a command in a container. For people's tools and hooks only: the command goes through API server and kubelet, so
 * nothing that must be quick or must work while those are away may depend on it.
 */
import { Pool, WebSocket } from "undici";
import type { ClusterAccess } from "./access.ts";
import { type Clock, systemClock } from "./clock.ts";
import { createConnector } from "./connector.ts";
import { ApiError, type Status } from "./errors.ts";
import type { ObjectRef } from "./kubeObject.ts";
import { objectPath, pods } from "./resource.ts";

export interface ExecOptions {
  readonly access: ClusterAccess;
  readonly userAgent: string;
  readonly pod: ObjectRef;
  readonly container: string;
  /** Program and arguments; no shell is involved. */
  readonly command: readonly string[];
  /** From the connection to the end of the command. Ending the connection does not end the process: bound it there too. */
  readonly timeoutMs: number;
  /** Of stdout and stderr each; what goes beyond is dropped. Default 1 MB. */
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export interface ExecResult {
  /** Undefined when the connection ended without telling: whether the command ran to its end is unknown. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Output was dropped. */
  readonly truncated: boolean;
}

const protocol = "v5.channel.k8s.io";
const stdoutChannel = 1;
const stderrChannel = 2;
const statusChannel = 3;
const defaultMaxOutputBytes = 1 << 20;

/** Throws ApiError: `timeout`, `aborted`, or `unreachable` when no connection came about, be it for want of a permission. */
export const execInPod = async (options: ExecOptions): Promise<ExecResult> => {
  const { access } = options;
  const { headers } = await access.credentials();
  const pool = new Pool(new URL(access.server).origin, {
    connect: createConnector(access),
    allowH2: false,
    bodyTimeout: 0,
  });
  try {
    const socket = new WebSocket(urlOf(options), {
      protocols: protocol,
      dispatcher: pool,
      headers: { ...headers, "user-agent": options.userAgent },
    });
    return await resultOf(socket, options);
  } finally {
    await pool.destroy();
  }
};

const urlOf = ({ access, pod, container, command }: ExecOptions): string => {
  const query = new URLSearchParams({ container, stdout: "true", stderr: "true" });
  for (const word of command) query.append("command", word);
  return `${access.server.replace(/^http/, "ws").replace(/\/+$/, "")}${objectPath(pods, pod, "exec")}?${query.toString()}`;
};

const resultOf = (socket: WebSocket, options: ExecOptions): Promise<ExecResult> =>
  new Promise((resolve, reject) => {
    const call = `exec in ${options.pod.name}`;
    const clock = options.clock ?? systemClock;
    const most = options.maxOutputBytes ?? defaultMaxOutputBytes;
    const stdout = createOutput(most);
    const stderr = createOutput(most);
    let exitCode: number | undefined;
    let opened = false;

    const end = (settle: () => void): void => {
      deadline.cancel();
      options.signal?.removeEventListener("abort", onAbort);
      // Closing tells of an error where there is no connection yet: what ended this must have been said by then.
      settle();
      socket.close();
    };
    const fail = (kind: "timeout" | "aborted" | "unreachable", message: string) =>
      end(() => reject(new ApiError({ kind, message: `${call}: ${message}` })));
    const onAbort = () => fail("aborted", "aborted");
    const deadline = clock.setTimeout(() => fail("timeout", `not over in ${options.timeoutMs} ms`), options.timeoutMs);
    if (options.signal?.aborted === true) {
      onAbort();
      return;
    }
    options.signal?.addEventListener("abort", onAbort, { once: true });

    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      opened = true;
    });
    socket.addEventListener("message", ({ data }) => {
      const frame = Buffer.from(data as ArrayBuffer);
      const content = frame.subarray(1);
      // Channels that nobody here knows are none of our business.
      if (frame[0] === stdoutChannel) stdout.add(content);
      else if (frame[0] === stderrChannel) stderr.add(content);
      else if (frame[0] === statusChannel) exitCode = exitCodeOf(content.toString("utf8"));
    });
    socket.addEventListener("error", () => {
      if (!opened) fail("unreachable", "no connection: the API server or the kubelet refused it or is away");
    });
    socket.addEventListener("close", () => {
      const truncated = stdout.truncated() || stderr.truncated();
      end(() => resolve({ exitCode, stdout: stdout.text(), stderr: stderr.text(), truncated }));
    });
  });

const createOutput = (most: number) => {
  const chunks: Buffer[] = [];
  let left = most;
  let dropped = false;
  return {
    add(chunk: Buffer): void {
      if (chunk.length > left) dropped = true;
      if (left > 0) chunks.push(chunk.subarray(0, left));
      left -= Math.min(left, chunk.length);
    },
    text: () => Buffer.concat(chunks).toString("utf8"),
    truncated: () => dropped,
  };
};

/** The kubelet hides the exit code in the causes of a Status. */
const exitCodeOf = (text: string): number | undefined => {
  const status = JSON.parse(text) as Status & { readonly status?: string };
  if (status.status === "Success") return 0;
  const cause = status.details?.causes?.find(({ reason }) => reason === "ExitCode");
  return cause === undefined ? undefined : Number(cause.message);
};
