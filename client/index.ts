/** The order client: places orders with whichever replica leads, exactly once. */
export { type ClientStatistics, OrderClient, type OrderClientOptions } from "./orderClient.ts";
export type { Pause } from "./pauseWatch.ts";
export type { OrderRequest } from "./requests.ts";
export type { OrderResult, RefusalCode, Trade } from "./results.ts";
