/** An HTTP answer as it came; status 0 when there was none. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** The JSON object of the body; empty when it was none. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface Question {
  readonly method: string;
  /** host:port */
  readonly address: string;
  readonly path: string;
  /** Sent as JSON, or as it is when it is text. */
  readonly body?: object | string;
  readonly token?: string | undefined;
  readonly deadlineMs?: number;
}

const usualDeadlineMs = 15_000;

/** Asks once. A connection that fails or a deadline that passes is an answer too: the asker cannot know what happened. */
export const ask = async (question: Question): Promise<Answer> => {
  const { method, address, path, body, token } = question;
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  try {
    const response = await fetch(`http://${address}${path}`, {
      method,
      headers,
      signal: AbortSignal.timeout(question.deadlineMs ?? usualDeadlineMs),
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const contentType = response.headers.get("content-type") ?? "";
    return { status: response.status, contentType, body: objectOf(text), text };
  } catch (error) {
    return { status: 0, contentType: "", body: {}, text: reasonOf(error) };
  }
};

/** For people: status, code and the beginning of the detail. */
export const describeAnswer = ({ status, body, text }: Answer): string => {
  if (status === 0) return `no answer (${text})`;
  const code = typeof body["code"] === "string" ? ` ${body["code"]}` : "";
  const detail = typeof body["detail"] === "string" ? body["detail"] : text;
  return `${status}${code} (${shortened(detail)})`;
};

const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= 140 ? line : `${line.slice(0, 140)}...`;
};

const objectOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
};

/** fetch hides what the network said behind "fetch failed". */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? cause.message : error.message;
};
