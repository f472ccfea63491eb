import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { JournalRecord } from "./check.ts";

/** How a fake replica misbehaves; `honest` does not. */
export type Fault = "honest" | "unavailable" | "ackThenHang" | "forgetful";

/**
 * Replicas on loopback that share one journal: the order side of an engine with perfect
 * replication, so that what the client does can be seen by itself.
 */
export class FakeReplicas {
  readonly journal: JournalRecord[] = [];
  fault: Fault = "honest";
  #epoch = 1;
  #primary = 0;
  readonly addresses: string[] = [];
  readonly #servers: Server[] = [];
  readonly #answers = new Map<string, { epoch: number; seq: number; orderId: string }>();

  static async start(count: number): Promise<FakeReplicas> {
    const replicas = new FakeReplicas();
    for (let index = 0; index < count; index++) await replicas.#serve(index);
    return replicas;
  }

  /** Breaks every connection of the primary and refuses new ones. */
  killPrimary(): void {
    const server = this.#servers[this.#primary];
    server?.close();
    server?.closeAllConnections();
  }

  /** Makes `index` primary in the next epoch. */
  promote(index: number): void {
    this.#epoch++;
    this.#primary = index;
    this.journal.push({ epoch: this.#epoch, seq: this.journal.length + 1, type: "epochStart" });
  }

  close(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  async #serve(index: number): Promise<void> {
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (piece: Buffer) => (body += piece.toString()));
      request.on("end", () => {
        const reply = this.#answer(index, body);
        if (reply === null) return;
        response.writeHead(reply.status, { "content-type": "application/json" });
        response.end(JSON.stringify(reply.body));
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.#servers.push(server);
    this.addresses.push(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  #answer(index: number, body: string): { status: number; body: unknown } | null {
    if (index !== this.#primary) {
      const orders = this.addresses[this.#primary];
      return { status: 421, body: { code: "NOT_PRIMARY", leader: { instance: `r-${this.#primary}`, orders } } };
    }
    if (this.fault === "unavailable") return { status: 503, body: { code: "CANNOT_COMMIT" } };
    const { clientId } = JSON.parse(body) as { clientId: string };
    const known = this.#answers.get(clientId);
    if (known !== undefined && this.fault !== "forgetful")
      return { status: 200, body: { ...known, clientId, duplicate: true } };
    const seq = this.journal.length + 1;
    const answer = { epoch: this.#epoch, seq, orderId: `o-${seq}` };
    this.#answers.set(clientId, answer);
    this.journal.push({ ...answer, type: "order", clientId });
    return this.fault === "ackThenHang" ? null : { status: 200, body: { ...answer, clientId, duplicate: false } };
  }
}
