import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";

import { type Answer, FrameReader, readAnswer } from "../orders/stream/frameReader.ts";
import { FrameWriter } from "../orders/stream/frameWriter.ts";
import { type Goodbye, maxAnswerBytes, protocolName, streamPath, type Welcome } from "../orders/stream/protocol.ts";
import type { ListenAddress } from "../process/config.ts";
import { eventually } from "./eventually.ts";
import { limitOrder } from "./records.ts";

/** An order stream as a test sees it: what is written goes out as it is, what comes back is kept. */
export class StreamClient {
  readonly socket: Socket;
  readonly answers: Answer[] = [];
  closed = false;
  readonly #reader = new FrameReader(maxAnswerBytes);

  private constructor(socket: Socket, head: Buffer) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => (this.closed = true));
    if (head.length > 0) this.#read(head);
  }

  static async open(address: ListenAddress): Promise<StreamClient> {
    const asked = request({ ...address, path: streamPath, headers: { connection: "Upgrade", upgrade: protocolName } });
    asked.end();
    const [, socket, head] = (await once(asked, "upgrade")) as [unknown, Socket, Buffer];
    return new StreamClient(socket, head);
  }

  send(write: (writer: FrameWriter) => void): void {
    const writer = new FrameWriter();
    write(writer);
    this.socket.write(writer.take());
  }

  /** A limit buy of five lots that nothing matches. */
  bid(correlation: number, clientId: string): void {
    this.send((writer) => writer.place(correlation, limitOrder(clientId)));
  }

  async answerTo(correlation: number): Promise<Answer> {
    const find = (): Answer | undefined =>
      this.answers.find((answer) => "correlation" in answer && answer.correlation === correlation);
    await eventually(`an answer to ${correlation}`, () => find() !== undefined);
    return find() as Answer;
  }

  async welcome(): Promise<Welcome> {
    await eventually("a welcome", () => this.answers.length > 0);
    const [first] = this.answers;
    if (first?.type !== "welcome") throw new Error(`a ${first?.type} came first`);
    return first.welcome;
  }

  async goodbye(): Promise<Goodbye> {
    const find = (): Answer | undefined => this.answers.find(({ type }) => type === "goodbye");
    await eventually("a goodbye", () => find() !== undefined);
    return (find() as Extract<Answer, { type: "goodbye" }>).goodbye;
  }

  #read(chunk: Buffer): void {
    this.#reader.push(chunk);
    while (this.#reader.advance()) {
      this.answers.push(readAnswer(this.#reader.bytes, this.#reader.start, this.#reader.end));
    }
  }
}
