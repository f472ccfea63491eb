/** What a test can make an API server do instead of answering. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export type Fault =
  /** Answers a Status. */
  | {
      readonly do: "status";
      readonly code: number;
      readonly reason?: string;
      readonly retryAfterSeconds?: number;
      /** Reasons of `details.causes`. */
      readonly causes?: readonly string[];
    }
  /** Resets the connection before any answer. */
  | { readonly do: "reset" }
  /** Never answers. */
  | { readonly do: "stall" }
  /** Begins the answer, and never ends it. */
  | { readonly do: "stallInBody" }
  /** Begins the answer, and resets the connection. */
  | { readonly do: "resetInBody" }
  /** Answers these bytes with status 200. */
  | { readonly do: "answer"; readonly body: string }
  /** Does the work, and resets the connection instead of telling. */
  | { readonly do: "loseAnswer" }
  /** Answers properly, but later. */
  | { readonly do: "delay"; readonly ms: number };

/** Which requests; all of what is given must hold. */
export interface FaultMatch {
  readonly method?: string;
  /** Part of path and query. */
  readonly path?: string;
  /** Only watches, or only what is none. */
  readonly watch?: boolean;
  /** How many of them. Default: all, until the faults are cleared. */
  readonly times?: number;
}

/** What is left to do for a request. */
export type Proceed = "answered" | "work" | "workAndReset";

export const inflict = async (fault: Fault, response: ServerResponse): Promise<Proceed> => {
  switch (fault.do) {
    case "status":
      sendAnswer(response, statusAnswer(fault));
      return "answered";
    case "reset":
      response.socket?.resetAndDestroy();
      return "answered";
    case "stall":
      return "answered";
    case "stallInBody":
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"kind":');
      return "answered";
    case "resetInBody":
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"kind":', () => response.socket?.resetAndDestroy());
      return "answered";
    case "answer":
      response.writeHead(200, { "content-type": "application/json" });
      response.end(fault.body);
      return "answered";
    case "loseAnswer":
      return "workAndReset";
    case "delay":
      await sleep(fault.ms);
      return "work";
  }
};

/** A whole answer. */
export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const sendAnswer = (response: ServerResponse, { code, headers, body }: Answer): void => {
  response.writeHead(code, headers);
  response.end(body);
};

/** A failure as the API server words it. */
export const statusAnswer = (status: Omit<Extract<Fault, { readonly do: "status" }>, "do">): Answer => {
  const { code, reason = "", retryAfterSeconds, causes } = status;
  const details = causes === undefined ? undefined : { causes: causes.map((cause) => ({ reason: cause })) };
  return {
    code,
    headers: {
      "content-type": "application/json",
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
    body: JSON.stringify({
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      code,
      reason,
      message: `the fake API server answers ${code} ${reason}`.trim(),
      details,
    }),
  };
};
