/** A request to one port of an engine, as a broken engine may misread it. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** An answer, as a broken engine may give it. */
export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** What a broken engine does differently; what it leaves out it does as the reference engine. */
export interface Doctor {
  /** Before the engine opens its data folder. */
  readonly beforeStart?: (place: BrokenPlace) => void;
  /** Once the sound engine is up, before anyone can ask it. */
  readonly afterStart?: (place: BrokenPlace) => Promise<void>;
  readonly control?: PortDoctor;
  readonly orders?: PortDoctor;
  /** A line of the status stream; null leaves it out. */
  readonly line?: (line: string) => string | null;
  readonly exitCode?: (code: number) => number;
}

export interface PortDoctor {
  /** Another call to carry out instead, or an answer without carrying out anything. */
  readonly call?: (call: Call, place: BrokenPlace) => Call | Reply | Promise<Call | Reply>;
  readonly reply?: (reply: Reply, call: Call, place: BrokenPlace) => Reply | Promise<Reply>;
}

/** Where a broken engine runs. */
export interface BrokenPlace {
  readonly instance: string;
  readonly dataDir: string;
  /** Asks the sound engine behind the broken ports. */
  readonly ask: (port: "control" | "orders", call: Call) => Promise<Reply>;
}

export type Fields = Readonly<Record<string, unknown>>;

export const isReply = (value: Call | Reply): value is Reply => "status" in value;

/** Fields of a JSON object; none when the text is no such thing. */
export const fieldsOf = ({ body }: { readonly body: string }): Fields => {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
  } catch {
    return {};
  }
};

/** `message` with some fields of its body changed; as it is when the body is no JSON object. */
export const withFields = <T extends { readonly body: string }>(message: T, change: (fields: Fields) => Fields): T => {
  const fields = fieldsOf(message);
  return Object.keys(fields).length === 0 ? message : { ...message, body: JSON.stringify(change(fields)) };
};

export const ok = (body: object): Reply => ({ status: 200, type: "application/json", body: JSON.stringify(body) });

export const isPost = (call: Call, path: string): boolean => call.method === "POST" && call.path === path;

export const get = (path: string, query = ""): Call => ({
  method: "GET",
  path,
  query,
  authorization: undefined,
  body: "",
});
