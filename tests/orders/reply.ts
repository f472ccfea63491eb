/** What an acknowledgement says. */
export interface Acknowledgement {
  readonly epoch: number;
  readonly seq: number;
  readonly orderId: string;
  /** The engine had this order already and repeats its first answer. */
  readonly duplicate: boolean;
}

/** What one attempt to place an order came to. */
export type Reply =
  | { readonly kind: "acked"; readonly ack: Acknowledgement }
  /** Not the primary; `leader` is the order entry of who is, as host:port, when known. */
  | { readonly kind: "redirected"; readonly leader: string | null }
  /** Nothing is known or nothing happened: the same client id must be sent again. */
  | { readonly kind: "unresolved"; readonly reason: string }
  /** A mistake of ours that sending again cannot cure. */
  | { readonly kind: "refused"; readonly reason: string };

/** Judges an answer to POST /v1/orders. */
export function readReply(status: number, body: string): Reply {
  const fields = parseFields(body);
  const code = typeof fields["code"] === "string" ? fields["code"] : "";
  if (status === 200) return readAcknowledgement(fields, body);
  if (status === 421) return { kind: "redirected", leader: readLeader(fields["leader"]) };
  // 503: refused before sequencing. 504: sequenced, outcome unknown. 429 and other 5xx: a proxy in between.
  if (status === 429 || status >= 500) return { kind: "unresolved", reason: `${status} ${code}`.trim() };
  return { kind: "refused", reason: `${status} ${code}: ${body.slice(0, 200)}` };
}

function readAcknowledgement(fields: Readonly<Record<string, unknown>>, body: string): Reply {
  const { epoch, seq, orderId, duplicate } = fields;
  if (!Number.isSafeInteger(epoch) || !Number.isSafeInteger(seq) || typeof orderId !== "string") {
    return { kind: "refused", reason: `200 without epoch, seq and orderId: ${body.slice(0, 200)}` };
  }
  return {
    kind: "acked",
    ack: { epoch: epoch as number, seq: seq as number, orderId, duplicate: duplicate === true },
  };
}

function readLeader(leader: unknown): string | null {
  if (typeof leader !== "object" || leader === null || !("orders" in leader)) return null;
  return typeof leader.orders === "string" && leader.orders !== "" ? leader.orders : null;
}

function parseFields(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
