import { readConfig } from "./config.ts";
import { createControlServer } from "./controlServer.ts";
import { startOrderClient } from "./orderClient.ts";
import { replicaHistory } from "./replicaHistory.ts";

/** After TERM, outstanding orders are resolved for this long. */
const termDeadlineMs = 5000;

const config = readConfig(process.env);
const client = startOrderClient(config.client);
const server = createControlServer(client, replicaHistory(config.controlEndpoints, config.tokenFile));

server.listen(config.port, () => {
  process.stdout.write(`${JSON.stringify({ started: config.client.run, address: server.address() })}\n`);
});

async function leave(): Promise<void> {
  const summary = await client.stop(termDeadlineMs);
  process.stdout.write(`${JSON.stringify({ stopped: summary })}\n`);
  server.close();
  server.closeAllConnections();
}

for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void leave());
