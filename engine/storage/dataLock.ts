import { rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";

import { FatalError, isErrno } from "../process/exit.ts";

/** Longest path that Linux takes for a Unix socket. */
const longestSocketPath = 107;
const connectDeadlineMs = 2_000;

export interface DataLock {
  release(): Promise<void>;
}

/**
 * Keeps two processes out of one data directory. The lock is a listening Unix socket: the kernel drops it with its
 * process however that ends, and it works between containers, where a process id in a file means nothing.
 */
export const lockDataDirectory = async (dataDir: string): Promise<DataLock> => {
  const path = join(dataDir, "lock");
  if (Buffer.byteLength(path) > longestSocketPath) {
    throw new FatalError("config", `TE_DATA_DIR is too long: ${path} must have at most ${longestSocketPath} bytes`);
  }
  // Whoever fails to bind looks again: the holder may have gone in between.
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const server = await tryListen(path);
    if (server !== null) return { release: () => close(server) };
    if (await isAlive(path)) break;
    await rm(path, { force: true });
  }
  throw new FatalError("inUse", `another process uses ${dataDir}; stop it first`);
};

const tryListen = (path: string): Promise<Server | null> =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => {
      if (isErrno(error) && error.code === "EADDRINUSE") resolve(null);
      else reject(new FatalError("io", `lock ${path}: ${error.message}`, { cause: error }));
    });
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });

/** A stopped process still accepts on its socket, so it still holds the lock. */
const isAlive = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    const answer = (alive: boolean) => () => {
      socket.destroy();
      resolve(alive);
    };
    socket.setTimeout(connectDeadlineMs, answer(true));
    socket.once("connect", answer(true));
    socket.once("error", answer(false));
  });

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
