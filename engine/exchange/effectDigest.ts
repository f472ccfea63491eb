import type { Effect } from "../book/effect.ts";
import { orderStatuses, reasons } from "../book/terms.ts";
import type { Digest } from "./digest.ts";

/** Mixes all that a record changed into `digest`. */
export const digestEffect = (effect: Effect, digest: Digest): void => {
  for (const { maker, taker, price, quantity } of effect.trades) {
    digest.number(maker.seq);
    digest.number(taker.seq);
    digest.number(price);
    digest.number(quantity);
  }
  for (const { seq, terms, remaining } of effect.rested) {
    digest.number(seq);
    digest.number(terms.price);
    digest.number(remaining);
  }
  for (const { seq, remaining } of effect.reduced) {
    digest.number(seq);
    digest.number(remaining);
  }
  for (const { seq } of effect.triggered) digest.number(seq);
  for (const { seq, status, reason } of effect.ended) {
    digest.number(seq);
    digest.number(orderStatuses.indexOf(status));
    digest.number(reason === null ? 0 : reasons.indexOf(reason) + 1);
  }
};
