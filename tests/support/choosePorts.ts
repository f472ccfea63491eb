import { once } from "node:events";
import { createServer } from "node:net";

/** Below the range that Linux gives to outgoing connections, so that no connection can take a port before its listener does. */
const lowest = 20_000;
const highest = 32_000;

const given = new Set<number>();

/** `count` TCP ports of the loopback address that nobody listens on and that were not given out before. */
export const choosePorts = async (count: number, random: () => number = Math.random): Promise<readonly number[]> => {
  const chosen: number[] = [];
  while (chosen.length < count) {
    const port = lowest + Math.floor(random() * (highest - lowest));
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) chosen.push(port);
  }
  return chosen;
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  const listening = once(server.listen(port, "127.0.0.1"), "listening");
  try {
    await listening;
  } catch {
    return false;
  }
  await once(server.close(), "close");
  return true;
};
