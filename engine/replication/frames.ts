/**
 * What travels on a replication connection. A frame is u32 length, u8 type and a body; integers are little endian.
 * The standby speaks first (hello), the primary answers welcome or refused; then records and pulses
 * flow down, acknowledgements flow up. Snapshots flow either way, asked for chunk by chunk: a follower that is too far
 * behind fetches one, and a primary fetches those that its followers take and offer.
 */
export const frameTypes = {
  hello: 1,
  welcome: 2,
  refused: 3,
  records: 4,
  pulse: 5,
  ack: 6,
  snapshotOffer: 7,
  snapshotRequest: 8,
  snapshotChunk: 9,
} as const;

type MessageType = "hello" | "welcome" | "refused" | "snapshotOffer" | "snapshotRequest";

export type Frame =
  | { readonly type: MessageType; readonly body: unknown }
  /** Records in journal encoding, and what is committed at the primary. */
  | { readonly type: "records"; readonly committed: number; readonly bytes: Buffer }
  /** Sent in silence too, so that each side knows the other is there; `ping` returns in the next ack. */
  | { readonly type: "pulse"; readonly committed: number; readonly ping: number }
  | { readonly type: "ack"; readonly durable: number; readonly echo: number }
  /** Answer to a request; without bytes when there is no such snapshot, or nothing at this offset. */
  | { readonly type: "snapshotChunk"; readonly offset: number; readonly bytes: Buffer };

const prefixBytes = 5;
/** Longest frame that a reader accepts. */
export const maxFrameBytes = 8 * 1024 * 1024;

/** The peer does not speak this protocol, or a connection was damaged. */
export class BadFrame extends Error {
  constructor(detail: string) {
    super(`unusable replication frame: ${detail}`);
    this.name = "BadFrame";
  }
}

export const encodeMessage = (type: MessageType, body: unknown): Buffer => {
  const json = Buffer.from(JSON.stringify(body), "utf8");
  return Buffer.concat([prefix(frameTypes[type], json.length), json]);
};

/** Only the head of a records frame: the records follow as they are, without a copy. */
export const encodeRecordsHead = (committed: number, recordBytes: number): Buffer =>
  Buffer.concat([prefix(frameTypes.records, 8 + recordBytes), integer(committed)]);

/** Only the head of a chunk, as with records. */
export const encodeChunkHead = (offset: number, bytes: number): Buffer =>
  Buffer.concat([prefix(frameTypes.snapshotChunk, 8 + bytes), integer(offset)]);

export const encodePulse = (committed: number, ping: number): Buffer =>
  Buffer.concat([prefix(frameTypes.pulse, 16), integer(committed), integer(ping)]);

export const encodeAck = (durable: number, echo: number): Buffer =>
  Buffer.concat([prefix(frameTypes.ack, 16), integer(durable), integer(echo)]);

const prefix = (type: number, bodyBytes: number): Buffer => {
  const bytes = Buffer.allocUnsafe(prefixBytes);
  bytes.writeUInt32LE(bodyBytes, 0);
  bytes.writeUInt8(type, 4);
  return bytes;
};

const integer = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};

/** Cuts the byte stream of a connection into frames. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #buffered = 0;

  /** The frames that `chunk` completes. Throws {@link BadFrame}; the connection is then beyond use. */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    const frames: Frame[] = [];
    for (let frame = this.#next(); frame !== null; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): Frame | null {
    if (this.#buffered < prefixBytes) return null;
    const head = this.#contiguous(prefixBytes);
    const length = head.readUInt32LE(0);
    if (length > maxFrameBytes) throw new BadFrame(`${length} bytes long`);
    if (this.#buffered < prefixBytes + length) return null;
    const bytes = this.#contiguous(prefixBytes + length);
    const rest = bytes.subarray(prefixBytes + length);
    this.#chunks = rest.length === 0 ? [] : [rest, ...this.#chunks.slice(1)];
    this.#buffered -= prefixBytes + length;
    return decode(head.readUInt8(4), bytes.subarray(prefixBytes, prefixBytes + length));
  }

  /** The first chunk, after joining as few as needed for `count` bytes. */
  #contiguous(count: number): Buffer {
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= count) return first;
    let joined = 0;
    let chunks = 0;
    while (joined < count) {
      joined += this.#chunks[chunks]?.length ?? 0;
      chunks += 1;
    }
    const merged = Buffer.concat(this.#chunks.slice(0, chunks));
    this.#chunks = [merged, ...this.#chunks.slice(chunks)];
    return merged;
  }
}

const decode = (type: number, body: Buffer): Frame => {
  switch (type) {
    case frameTypes.hello:
      return { type: "hello", body: json(body) };
    case frameTypes.welcome:
      return { type: "welcome", body: json(body) };
    case frameTypes.refused:
      return { type: "refused", body: json(body) };
    case frameTypes.snapshotOffer:
      return { type: "snapshotOffer", body: json(body) };
    case frameTypes.snapshotRequest:
      return { type: "snapshotRequest", body: json(body) };
    case frameTypes.snapshotChunk:
      return { type: "snapshotChunk", offset: integerAt(body, 0), bytes: body.subarray(8) };
    case frameTypes.records:
      return { type: "records", committed: integerAt(body, 0), bytes: body.subarray(8) };
    case frameTypes.pulse:
      return { type: "pulse", committed: integerAt(body, 0), ping: integerAt(body, 8) };
    case frameTypes.ack:
      return { type: "ack", durable: integerAt(body, 0), echo: integerAt(body, 8) };
    default:
      throw new BadFrame(`type ${type}`);
  }
};

const integerAt = (body: Buffer, offset: number): number => {
  if (body.length < offset + 8) throw new BadFrame("too short");
  return Number(body.readBigUInt64LE(offset));
};

const json = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new BadFrame("not JSON");
  }
};
