/** The order client: places orders with whichever replica leads, exactly once. */
export { type ClientStatistics, OrderClient, type OrderClientOptions } from "./orderClient.ts";
export type { Pause } from "./pauseWatch.ts";
export type { OrderId, OrderRequest, ReplaceRequest } from "./requests.ts";
export type { OrderResult, OrderState, RefusalCode, Trade } from "./results.ts";
