import type { Environment } from "./config.ts";
import { FatalError } from "./exit.ts";

/** The product does nothing wrong on purpose: whoever asks it to has the wrong image, and must hear of it. */
export const refuseFaults = (env: Environment): void => {
  if (env["TE_FAULTS"] === undefined) return;
  throw new FatalError("config", "TE_FAULTS is for the test image, and this is not it: take it away");
};
