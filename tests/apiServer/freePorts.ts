import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** `count` different TCP ports of the loopback address that nobody listened on a moment ago. */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  // A TCP server that listens has an AddressInfo; the other forms belong to pipes and closed servers.
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
};
