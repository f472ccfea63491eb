export { type HttpServer, serve } from "./httpServer.ts";
export { healthPages, metricsPages } from "./pages.ts";
