import type { Clock } from "./clock.ts";
import type { OrderConnection } from "./connection.ts";
import type { LeaderSearch } from "./leaderSearch.ts";
import type { Order } from "./randomOrders.ts";
import type { ReplicaRoute } from "./replicaRoute.ts";
import type { Acknowledgement } from "./reply.ts";

/** How an order ended. Times are milliseconds of the clock. */
export type Settled =
  | {
      readonly kind: "acked";
      readonly ack: Acknowledgement;
      /** When the attempt that was acknowledged left. */
      readonly sentMs: number;
      readonly ackedMs: number;
    }
  | { readonly kind: "refused"; readonly reason: string }
  /** Given up: it may be in the journal or not. */
  | { readonly kind: "unresolved" };

export interface SubmitContext {
  readonly connection: OrderConnection;
  readonly route: ReplicaRoute;
  readonly search: LeaderSearch;
  readonly clock: Clock;
  /** Aborted when nothing more may be tried. */
  readonly giveUp: AbortSignal;
  /** Told of every attempt that has to be repeated. */
  onRetry(reason: string): void;
}

/**
 * Sends `order` under its one client id until some replica acknowledges or refuses it.
 * Sending again is safe whatever became of an attempt: the engine answers a client id it
 * has seen with the original acknowledgement.
 */
export async function submit(order: Order, context: SubmitContext): Promise<Settled> {
  const { connection, route, search, clock, giveUp } = context;
  const body = JSON.stringify(order);
  for (let fruitless = 0; !giveUp.aborted; ) {
    const { target } = route;
    const sentMs = clock.now();
    const reply = await connection.send(target, body);
    switch (reply.kind) {
      case "acked":
        route.confirmed(target);
        search.found();
        return { kind: "acked", ack: reply.ack, sentMs, ackedMs: clock.now() };
      case "refused":
        search.leave(connection);
        return { kind: "refused", reason: reply.reason };
      case "redirected":
        route.redirected(target, reply.leader, clock.now());
        context.onRetry("421 NOT_PRIMARY");
        break;
      case "unresolved":
        route.failed(target, clock.now());
        context.onRetry(reply.reason);
        break;
    }
    if (route.reconnects) connection.drop(target);
    fruitless++;
    await search.beforeRetry(connection, fruitless);
  }
  search.leave(connection);
  return { kind: "unresolved" };
}
