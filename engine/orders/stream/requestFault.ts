import { faultOf, isAccount, isClientId } from "../../exchange/commandFaults.ts";
import type { StreamRequest } from "./frameReader.ts";
import { type ProblemCode, problemCodes } from "./protocol.ts";

/** A request about one order. */
export type OrderRequest = Extract<StreamRequest, { kind: "order" | "replace" | "cancel" | "find" }>;

/** Why `request` cannot be taken as it is; null when it can. */
export const faultOfRequest = (request: OrderRequest): ProblemCode | null => {
  switch (request.kind) {
    case "order":
    case "replace":
      return problemOfFault(faultOf(request));
    case "cancel":
    case "find":
      if (!isClientId(request.clientId)) return "BAD_CLIENT_ID";
      return isAccount(request.account) ? null : "BAD_ACCOUNT";
  }
};

const problemOfFault = (fault: ReturnType<typeof faultOf>): ProblemCode | null =>
  fault === null ? null : (problemCodes.find((code) => code === fault) ?? "BAD_REQUEST");
