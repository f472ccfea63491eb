export { type ConnectionEnd, connectionEndOf } from "./connectionEnd.ts";
export { type AddressOf, type EngineAddress, podAddress } from "./engineAddress.ts";
export { createEngineClient, type EngineClient, type EngineTarget } from "./engineClient.ts";
export { EngineRefusal, EngineUnanswered } from "./engineError.ts";
export { openStatusStream, type StatusStream, type StatusStreamOptions } from "./statusStream.ts";
export type { StreamConnection, StreamView } from "./streamView.ts";
