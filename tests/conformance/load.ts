import { setTimeout as sleep } from "node:timers/promises";

import type { Answer } from "./ask.ts";
import type { Engine } from "./engine.ts";

/** An acknowledgement that a client holds in its hands. */
export interface Ack {
  readonly clientId: string;
  readonly epoch: number;
  readonly seq: number;
  readonly orderId: string;
}

export const ackOf = (clientId: string, { body }: Answer): Ack => ({
  clientId,
  epoch: Number(body["epoch"]),
  seq: Number(body["seq"]),
  orderId: String(body["orderId"]),
});

/** Bids under way at one engine from several senders at once. */
export interface Load {
  /** Acknowledgements so far. */
  readonly acks: readonly Ack[];
  /** Sends nothing new, and resolves once every order is answered. */
  stop(): Promise<readonly Ack[]>;
}

/** Starts sending. A sender ends with the first order that gets no answer at all: its engine is gone. */
export const startLoad = (engine: Engine, senders = 8): Load => {
  const acks: Ack[] = [];
  let sending = true;
  const send = async (sender: number): Promise<void> => {
    for (let count = 0; sending; count += 1) {
      const clientId = `load-${sender}-${count}`;
      const answer = await engine.bid(clientId);
      if (answer.status === 200) acks.push(ackOf(clientId, answer));
      if (answer.status === 0) return;
    }
  };
  const all = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
  return {
    acks,
    async stop() {
      sending = false;
      await all;
      return acks;
    },
  };
};

/** Resolves once `count` orders are acknowledged, or after a time in which a working engine acknowledges that many. */
export const untilAcked = async (load: Load, count: number): Promise<void> => {
  const end = performance.now() + 15_000;
  while (load.acks.length < count && performance.now() < end) await sleep(5);
};

export const highestSeq = (acks: readonly Ack[]): number =>
  acks.reduce((highest, { seq }) => Math.max(highest, seq), 0);
