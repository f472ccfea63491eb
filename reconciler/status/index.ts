export { buildStatus, isWorthPublishing, type StatusInput } from "./buildStatus.ts";
export { StatusWriter, type StatusWriterOptions } from "./statusWriter.ts";
