import { Agent } from "undici";
import type { z } from "zod";
import {
  type DemoteAnswer,
  type DemoteRequest,
  demoteAnswer,
  type EngineStatus,
  engineStatus,
  type FenceAnswer,
  type FenceRequest,
  type FollowAnswer,
  type FollowRequest,
  fenceAnswer,
  followAnswer,
  type GrantAnswer,
  type GrantRequest,
  grantAnswer,
  type MembersAnswer,
  type MembersRequest,
  membersAnswer,
  type PromoteAnswer,
  type PromoteRequest,
  problem,
  promoteAnswer,
} from "../../api/contract/v1.ts";
import { connectionEndOf } from "./connectionEnd.ts";
import { EngineRefusal, EngineUnanswered } from "./engineError.ts";

/** Which engine to call, and with what. */
export interface EngineTarget {
  /** host:port of the control listener. */
  readonly control: string;
  readonly token: string;
}

/**
 * The calls of the control API that the role lane makes. Each ends within `deadlineMs`.
 * @throws {EngineRefusal} the engine declined; nothing changed.
 * @throws {EngineUnanswered} no usable answer; the call may have taken effect.
 */
export interface EngineClient {
  status(target: EngineTarget, deadlineMs: number): Promise<EngineStatus>;
  fence(target: EngineTarget, request: FenceRequest, deadlineMs: number): Promise<FenceAnswer>;
  promote(target: EngineTarget, request: PromoteRequest, deadlineMs: number): Promise<PromoteAnswer>;
  follow(target: EngineTarget, request: FollowRequest, deadlineMs: number): Promise<FollowAnswer>;
  demote(target: EngineTarget, request: DemoteRequest, deadlineMs: number): Promise<DemoteAnswer>;
  setMembers(target: EngineTarget, request: MembersRequest, deadlineMs: number): Promise<MembersAnswer>;
  grant(target: EngineTarget, request: GrantRequest, deadlineMs: number): Promise<GrantAnswer>;
  /** Closes idle connections; calls under way end with an error. */
  close(): Promise<void>;
}

interface Call<Answer> {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: object;
  readonly answer: z.ZodType<Answer>;
}

/** Over keep-alive connections, a pool for each engine. */
export function createEngineClient(): EngineClient {
  const agent = new Agent({ keepAliveTimeout: 30_000, connections: 4, pipelining: 1 });

  const once = async <Answer>(target: EngineTarget, call: Call<Answer>, signal: AbortSignal): Promise<Answer> => {
    const name = `${call.method} ${call.path} of ${target.control}`;
    const { statusCode, body } = await agent.request({
      origin: `http://${target.control}`,
      path: call.path,
      method: call.method,
      headers: { authorization: `Bearer ${target.token}`, "content-type": "application/json" },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      signal,
    });
    const answer: unknown = await body.json();
    if (statusCode === 200) return call.answer.parse(answer);
    const refusal = problem.safeParse(answer);
    if (refusal.success) throw new EngineRefusal(name, refusal.data);
    throw new EngineUnanswered(name, "rejected", new Error(`status ${statusCode} without a problem document`));
  };

  const call = async <Answer>(target: EngineTarget, request: Call<Answer>, deadlineMs: number): Promise<Answer> => {
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      return await once(target, request, signal);
    } catch (first) {
      if (!isStaleConnection(first)) throw asEngineError(request, target, first);
    }
    try {
      // A kept connection may have been closed by the peer just as it was used. Every call is idempotent by its
      // opId, so it is asked once more, on a new connection and within the same deadline.
      return await once(target, request, signal);
    } catch (second) {
      throw asEngineError(request, target, second);
    }
  };

  const sending =
    <Answer>(method: "POST" | "PUT", path: string, answer: z.ZodType<Answer>) =>
    (target: EngineTarget, body: object, deadlineMs: number): Promise<Answer> =>
      call(target, { method, path, body, answer }, deadlineMs);

  return {
    status: (target, deadlineMs) =>
      call(target, { method: "GET", path: "/v1/status", answer: engineStatus }, deadlineMs),
    fence: sending("POST", "/v1/fence", fenceAnswer),
    promote: sending("POST", "/v1/promote", promoteAnswer),
    follow: sending("POST", "/v1/follow", followAnswer),
    demote: sending("POST", "/v1/demote", demoteAnswer),
    setMembers: sending("PUT", "/v1/members", membersAnswer),
    grant: sending("POST", "/v1/grant", grantAnswer),
    close: () => agent.destroy(),
  };
}

const isEngineError = (error: unknown): error is EngineRefusal | EngineUnanswered =>
  error instanceof EngineRefusal || error instanceof EngineUnanswered;

const isStaleConnection = (error: unknown): boolean => !isEngineError(error) && connectionEndOf(error) === "reset";

function asEngineError(call: Call<unknown>, target: EngineTarget, error: unknown): Error {
  if (isEngineError(error)) return error;
  const isMalformed = error instanceof SyntaxError || (error instanceof Error && error.name === "ZodError");
  const end = isMalformed ? "rejected" : connectionEndOf(error);
  return new EngineUnanswered(`${call.method} ${call.path} of ${target.control}`, end, error);
}
