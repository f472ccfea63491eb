import { setTimeout as sleep } from "node:timers/promises";

import { type Call, fieldsOf, isPost, ok, type Reply, withFields } from "./doctor.ts";
import type { BrokenVariant } from "./variants.ts";

const placed = (call: Call): Reply => {
  const { clientId = call.path.split("/").at(-1) } = fieldsOf(call);
  return ok({
    epoch: 1,
    seq: 99,
    orderId: "1-99",
    clientId,
    status: "resting",
    filledQuantity: "0",
    trades: [],
    duplicate: false,
  });
};

/** Variants that acknowledge, refuse or repeat orders wrongly. */
export const brokenOrders: readonly BrokenVariant[] = [
  {
    name: "acknowledges-anyway",
    fails: {
      "no-ack-before-k-copies": /an order with one of two copies: 200/,
      "isolated-primary-is-silent": /orders at the old primary: 200/,
      "paused-primary-is-silent": /orders that waited: 200/,
    },
    does: "acknowledges orders that it could not commit",
    doctor: () => ({
      orders: { reply: (reply, call) => (reply.status === 503 || reply.status === 504 ? placed(call) : reply) },
    }),
  },
  {
    name: "places-what-it-refused",
    fails: { "refused-means-not-done": /GET of it: 200/ },
    does: "keeps an order that it refused, and places it later",
    doctor: () => ({
      orders: {
        reply(reply, call, place) {
          const later = async (): Promise<void> => {
            for (let tries = 0; tries < 1_000; tries += 1) {
              await sleep(10);
              if ((await place.ask("orders", call)).status === 200) return;
            }
          };
          if (isPost(call, "/v1/orders") && reply.status === 503) void later().catch(() => undefined);
          return reply;
        },
      },
    }),
  },
  {
    name: "refuses-what-it-sequenced",
    fails: { "unknown-is-resolved": /503, and then GET: 200/ },
    does: "tells 503 of an order that is in its journal already",
    doctor: () => ({
      orders: {
        reply: (reply) =>
          reply.status === 504
            ? { ...withFields(reply, (fields) => ({ ...fields, status: 503, code: "CANNOT_COMMIT" })), status: 503 }
            : reply,
      },
    }),
  },
  {
    name: "trades-anew",
    fails: { "trades-are-repeated": /trades after failover .*te-[12]-/ },
    does: "gives a trade another id on another replica",
    doctor: () => ({
      orders: {
        reply: (reply, _, { instance }) =>
          withFields(reply, (fields) => {
            const trades = (fields["trades"] ?? []) as { tradeId: string }[];
            return {
              ...fields,
              trades: trades.map((trade) => ({ ...trade, tradeId: `${instance}-${trade.tradeId}` })),
            };
          }),
      },
    }),
  },
  {
    name: "leads-nowhere",
    fails: { "not-primary-leads-on": /POST: 421 NOT_PRIMARY, leader null/ },
    does: "never tells who leads",
    doctor: () => ({
      orders: {
        reply: (reply) => (reply.status === 421 ? withFields(reply, (fields) => ({ ...fields, leader: null })) : reply),
      },
    }),
  },
  {
    name: "places-again",
    fails: { "client-id-is-one-order": /again: .*"duplicate":false/ },
    does: "takes every order for a new one",
    doctor: () => {
      let orders = 0;
      return {
        orders: {
          call(call) {
            orders += 1;
            const suffix = `-${orders}`;
            return isPost(call, "/v1/orders")
              ? withFields(call, (fields) => ({ ...fields, clientId: `${String(fields["clientId"])}${suffix}` }))
              : call;
          },
        },
      };
    },
  },
  {
    name: "only-says-cancelled",
    fails: { "cancel-is-final": /trades .*tradeId/ },
    does: "answers a cancellation and leaves the order in the book",
    doctor: () => {
      const cancelled = new Set<string>();
      return {
        orders: {
          call(call) {
            if (call.method !== "DELETE" || call.path.endsWith("never-placed")) return call;
            const duplicate = cancelled.has(call.path);
            cancelled.add(call.path);
            return ok({ ...fieldsOf(placed(call)), status: "cancelled", duplicate });
          },
        },
      };
    },
  },
  {
    name: "guesses-orders",
    fails: { "bad-order-changes-nothing": /not JSON: 200/ },
    does: "makes an order of what is none",
    doctor: () => ({
      orders: {
        call: (call) =>
          isPost(call, "/v1/orders")
            ? {
                ...call,
                body: JSON.stringify({
                  clientId: "guessed",
                  type: "limit",
                  side: "buy",
                  price: "100.00",
                  quantity: "1",
                }),
              }
            : call,
      },
    }),
  },
];
