import type { ConditionReason, ConditionType } from "../../api/tradingEngine/index.ts";

/** One condition before it gets its times. */
export interface Judgement {
  readonly type: ConditionType;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: ConditionReason;
  readonly message: string;
}

/** How each condition is decided: the reasons and the words, in one form. */
export const judge = (
  type: ConditionType,
  status: Judgement["status"],
  reason: ConditionReason,
  message: string,
): Judgement => ({ type, status, reason, message });
