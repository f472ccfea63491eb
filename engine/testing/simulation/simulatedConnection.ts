import type { CancelTimer } from "../../process/timers.ts";
import type { Connection } from "../../replication/network.ts";
import type { SimulatedNetwork } from "./simulatedNetwork.ts";
import type { SimulatedProcess } from "./simulatedProcess.ts";

export type Message =
  | { readonly kind: "open" }
  | { readonly kind: "data"; readonly bytes: Buffer }
  | { readonly kind: "close"; readonly error: Error | null };

/** Bytes under way beyond which a writer is told to wait. */
const roomBytes = 2_048;

/** One end of a simulated connection. */
export class SimulatedConnection implements Connection {
  readonly process: SimulatedProcess;
  readonly host: string;
  readonly peerHost: string;
  readonly #network: SimulatedNetwork;
  readonly #opened: (() => void)[] = [];
  readonly #received: ((bytes: Buffer) => void)[] = [];
  readonly #drained: (() => void)[] = [];
  readonly #closedListeners: ((error: Error | null) => void)[] = [];
  #peer: SimulatedConnection | null = null;
  /** Sent, and not arrived. */
  #outbox: Message[] = [];
  /** Arrived, and not taken by the process. */
  #inbox: Message[] = [];
  #travelling = false;
  #paused = false;
  #full = false;
  #closed = false;
  #silenceMs: number | null = null;
  #stirredAt = 0;
  #cancelSilence: CancelTimer = () => undefined;

  constructor(network: SimulatedNetwork, process: SimulatedProcess, host: string, peerHost: string) {
    this.#network = network;
    this.process = process;
    this.host = host;
    this.peerHost = peerHost;
    network.add(this);
  }

  get closed(): boolean {
    return this.#closed;
  }

  write(...pieces: readonly Uint8Array[]): boolean {
    if (this.#closed || !this.process.mayAct()) return false;
    this.#send({ kind: "data", bytes: Buffer.concat(pieces) });
    this.#stir();
    this.#full = this.#underWay() > roomBytes;
    return !this.#full;
  }

  end(bytes: Uint8Array): void {
    this.write(bytes);
    if (!this.#closed) this.#finish({ kind: "close", error: null }, null);
  }

  destroy(): void {
    if (this.#closed) return;
    // What the system had not taken over yet is lost; the rest still arrives.
    if (this.#network.random.chance(0.5)) this.#cutOutbox();
    this.#finish({ kind: "close", error: null }, null);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.process.deliver(() => this.#take());
  }

  closeWhenSilentFor(milliseconds: number | null): void {
    this.#cancelSilence();
    this.#silenceMs = milliseconds;
    this.#stir();
    if (milliseconds !== null) this.#watchSilence(milliseconds);
  }

  onOpen(listener: () => void): void {
    this.#opened.push(listener);
  }

  onData(listener: (bytes: Buffer) => void): void {
    this.#received.push(listener);
  }

  onDrain(listener: () => void): void {
    this.#drained.push(listener);
  }

  onClose(listener: (error: Error | null) => void): void {
    this.#closedListeners.push(listener);
  }

  join(peer: SimulatedConnection): void {
    this.#peer = peer;
    peer.#peer = this;
  }

  /** Tells the side that asked for the connection that there is one. */
  greet(): void {
    this.#send({ kind: "open" });
  }

  receive(message: Message): void {
    if (this.#closed) return;
    if (message.kind === "close" && message.error !== null) this.#inbox = [];
    this.#inbox.push(message);
    this.process.deliver(() => this.#take());
  }

  /** Both sides lose the connection at this moment, with whatever was under way. */
  breakOff(): void {
    const error = new Error("connection reset");
    this.#outbox = [];
    this.receive({ kind: "close", error });
  }

  /** The machine is gone, without a word to the other side. */
  vanish(): void {
    this.#closed = true;
    this.#outbox = [];
    this.#network.forget(this);
  }

  /** Goes on with what waits to travel. */
  pump(): void {
    if (this.#travelling || this.#outbox.length === 0) return;
    this.#travelling = true;
    const count = this.#outbox.length;
    this.#network.scheduler.after(this.#network.latencyMs(), () => {
      this.#travelling = false;
      if (this.#network.isBlocked(this.host, this.peerHost)) return;
      this.#arrive(this.#outbox.splice(0, count));
      this.pump();
    });
  }

  #arrive(messages: readonly Message[]): void {
    const peer = this.#peer;
    if (peer === null || messages.length === 0 || this.#network.isDown(this.peerHost)) return;
    if (peer.#closed) {
      // Nobody there knows this connection any more, and says so.
      this.breakOff();
      return;
    }
    for (const message of regrouped(messages, this.#network)) peer.receive(message);
    if (this.#closed && this.#outbox.length === 0) this.#network.forget(this);
    this.#noticeRoom();
  }

  /** The process takes what has arrived. */
  #take(): void {
    while (!this.#paused && !this.#closed) {
      const message = this.#inbox.shift();
      if (message === undefined) break;
      this.#stir();
      switch (message.kind) {
        case "open":
          for (const listener of this.#opened) listener();
          break;
        case "data":
          for (const listener of this.#received) listener(message.bytes);
          break;
        case "close":
          this.#finish(null, message.error);
          break;
      }
    }
    if (this.#peer !== null) this.#peer.#noticeRoom();
  }

  #send(message: Message): void {
    this.#outbox.push(message);
    this.pump();
  }

  #finish(farewell: Message | null, error: Error | null): void {
    this.#closed = true;
    this.#cancelSilence();
    this.#inbox = [];
    if (farewell !== null) this.#send(farewell);
    if (this.#outbox.length === 0) this.#network.forget(this);
    this.#network.scheduler.after(0, () =>
      this.process.deliver(() => {
        for (const listener of this.#closedListeners) listener(error);
      }),
    );
  }

  #cutOutbox(): void {
    const { random } = this.#network;
    const kept = this.#outbox.slice(0, random.integer(0, this.#outbox.length));
    const last = kept.at(-1);
    if (last?.kind === "data") {
      kept.splice(-1, 1, { kind: "data", bytes: last.bytes.subarray(0, random.integer(0, last.bytes.length)) });
    }
    this.#outbox = kept;
  }

  #underWay(): number {
    return sizeOf(this.#outbox) + (this.#peer === null ? 0 : sizeOf(this.#peer.#inbox));
  }

  #noticeRoom(): void {
    if (!this.#full || this.#underWay() > roomBytes) return;
    this.#full = false;
    this.process.deliver(() => {
      if (!this.#closed) for (const listener of this.#drained) listener();
    });
  }

  #stir(): void {
    this.#stirredAt = this.#network.scheduler.now;
  }

  #watchSilence(milliseconds: number): void {
    this.#cancelSilence = this.process.timers.after(milliseconds, () => {
      if (this.#closed || this.#silenceMs === null) return;
      const left = this.#stirredAt + this.#silenceMs - this.#network.scheduler.now;
      if (left <= 0) this.destroy();
      else this.#watchSilence(left);
    });
  }
}

const sizeOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + (message.kind === "data" ? message.bytes.length : 0), 0);

/** A byte stream has no borders: what was written in one go may arrive in two, and the other way round. */
const regrouped = (messages: readonly Message[], { random }: SimulatedNetwork): Message[] => {
  const result: Message[] = [];
  let bytes: Buffer[] = [];
  const flush = (): void => {
    const joined = Buffer.concat(bytes);
    bytes = [];
    if (joined.length === 0) return;
    const cut = random.chance(0.2) ? random.integer(1, joined.length) : joined.length;
    result.push({ kind: "data", bytes: joined.subarray(0, cut) });
    if (cut < joined.length) result.push({ kind: "data", bytes: joined.subarray(cut) });
  };
  for (const message of messages) {
    if (message.kind === "data") {
      bytes.push(message.bytes);
      continue;
    }
    flush();
    result.push(message);
  }
  flush();
  return result;
};
