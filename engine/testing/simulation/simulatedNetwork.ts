import type { ListenAddress } from "../../process/config.ts";
import { FatalError } from "../../process/exit.ts";
import type { Connection, Network } from "../../replication/network.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import { SimulatedConnection } from "./simulatedConnection.ts";
import type { SimulatedProcess } from "./simulatedProcess.ts";

interface Listening {
  readonly process: SimulatedProcess;
  readonly serve: (connection: Connection) => void;
}

/**
 * Connections between named hosts. Each keeps its bytes in order and takes its own time. A direction between two hosts
 * may be blocked: what is sent waits, as TCP sends again, until it is unblocked or the connection is given up.
 */
export class SimulatedNetwork {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly #listening = new Map<string, Listening>();
  readonly #down = new Set<string>();
  readonly #blocked = new Set<string>();
  readonly #connections = new Set<SimulatedConnection>();
  #ports = 0;

  constructor(scheduler: Scheduler, random: Random) {
    this.scheduler = scheduler;
    this.random = random;
  }

  latencyMs(): number {
    return this.random.chance(0.05) ? this.random.between(1, 8) : this.random.between(0.05, 0.5);
  }

  /** The network as `process` on `host` uses it. */
  of(host: string, process: SimulatedProcess): Network {
    return {
      connect: (address) => this.#connect(host, process, address),
      listen: (address, variable, serve) => {
        this.#ports += address.port === 0 ? 1 : 0;
        const port = address.port === 0 ? this.#ports : address.port;
        const key = `${host}:${port}`;
        if (this.#listening.has(key)) {
          return Promise.reject(new FatalError("config", `${variable}=${key}: address already in use`));
        }
        this.#listening.set(key, { process, serve });
        const close = (): Promise<void> => {
          this.#listening.delete(key);
          return Promise.resolve();
        };
        return Promise.resolve({ address: { host, port }, close });
      },
    };
  }

  block(from: string, to: string): void {
    this.#blocked.add(`${from}>${to}`);
  }

  /** Lets everything through again. */
  heal(): void {
    this.#blocked.clear();
    for (const connection of this.#connections) connection.pump();
  }

  isBlocked(from: string, to: string): boolean {
    return from !== to && this.#blocked.has(`${from}>${to}`);
  }

  /** Breaks every connection of `host`; both sides notice. */
  reset(host: string): void {
    for (const connection of this.#connections) {
      if (connection.host === host || connection.peerHost === host) connection.breakOff();
    }
  }

  /** The process has ended: the system closes its connections, and the other sides hear of it. */
  loseProcess(process: SimulatedProcess): void {
    this.#stopListening(process);
    for (const connection of this.#connections) if (connection.process === process) connection.destroy();
  }

  /** The machine is off: nobody hears anything. */
  losePower(host: string, process: SimulatedProcess): void {
    this.#down.add(host);
    this.#stopListening(process);
    for (const connection of this.#connections) if (connection.process === process) connection.vanish();
  }

  /** The machine is on again; it knows nothing of the connections that it had. */
  restorePower(host: string): void {
    this.#down.delete(host);
  }

  isDown(host: string): boolean {
    return this.#down.has(host);
  }

  add(connection: SimulatedConnection): void {
    this.#connections.add(connection);
  }

  forget(connection: SimulatedConnection): void {
    this.#connections.delete(connection);
  }

  #connect(host: string, process: SimulatedProcess, address: ListenAddress): Connection {
    const connection = new SimulatedConnection(this, process, host, address.host);
    if (!process.mayAct()) return connection;
    const knock = (): void => {
      if (connection.closed || this.isDown(address.host)) return;
      if (this.isBlocked(host, address.host)) {
        this.scheduler.after(5, knock);
        return;
      }
      const listening = this.#listening.get(`${address.host}:${address.port}`);
      if (listening === undefined) {
        connection.receive({ kind: "close", error: new Error("connection refused") });
        return;
      }
      const accepted = new SimulatedConnection(this, listening.process, address.host, host);
      connection.join(accepted);
      listening.process.deliver(() => listening.serve(accepted));
      accepted.greet();
    };
    this.scheduler.after(this.latencyMs(), knock);
    return connection;
  }

  #stopListening(process: SimulatedProcess): void {
    for (const [key, listening] of this.#listening) if (listening.process === process) this.#listening.delete(key);
  }
}
