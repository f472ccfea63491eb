import type { Position } from "../journal/record.ts";
import { type ListenAddress, parseAddress } from "../process/config.ts";
import type { CallIdentity, ReplicaCall } from "../replica/calls.ts";
import { Refusal } from "../replica/refusal.ts";

export type CallName = ReplicaCall["name"];

const highestEpoch = 0xffff_ffff;
/** For whoever runs an engine by hand. A longer one would be no fence any more. */
const longestGrantMs = 3_600_000;

/** Reads the body of a mutating call. Throws a {@link Refusal} that names the field at fault. */
export const parseCall = (name: CallName, body: unknown): ReplicaCall => {
  const fields = new Fields(body, "");
  const operation = { clusterUid: fields.string("clusterUid"), opId: fields.string("opId") };
  if (name === "snapshot") return { name, args: operation };
  const identity: CallIdentity = { ...operation, epoch: fields.integer("epoch", 1, highestEpoch) };
  switch (name) {
    case "fence":
    case "undrain":
      return { name, args: identity };
    case "promote":
      return { name, args: { ...identity, ...syncSet(fields), minPosition: position(fields), resume: resume(fields) } };
    case "follow":
      return { name, args: { ...identity, upstream: upstream(fields) } };
    case "demote":
      return { name, args: { ...identity, deadlineMs: fields.integer("deadlineMs", 1, 600_000) } };
    case "members":
      return { name, args: { ...identity, ...syncSet(fields), version: fields.integer("version", 1) } };
    case "grant":
      return { name, args: { ...identity, ttlMs: fields.integer("ttlMs", 1, longestGrantMs) } };
    case "drain": {
      const mode = fields.oneOf("mode", ["reject", "cancelOnly"]);
      if (!fields.has("deadlineMs")) return { name, args: { ...identity, mode } };
      return { name, args: { ...identity, mode, deadlineMs: fields.integer("deadlineMs", 1, 600_000) } };
    }
  }
};

const syncSet = (fields: Fields): { members: readonly string[]; k: number } => {
  const members = fields.strings("members");
  return { members, k: fields.integer("k", 0, members.length) };
};

const position = (fields: Fields): Position => {
  const inner = fields.object("minPosition");
  return { epoch: inner.integer("epoch", 0, highestEpoch), seq: inner.integer("seq", 0) };
};

const resume = (fields: Fields): "open" | "cancelOnly" => fields.oneOf("resume", ["open", "cancelOnly"]);

const upstream = (fields: Fields): { instance: string; replication: ListenAddress; orders: string } => {
  const inner = fields.object("upstream");
  const replication = parseAddress(inner.string("replication"));
  if (replication === null) throw badRequest("upstream.replication must be host:port");
  return { instance: inner.string("instance"), replication, orders: inner.string("orders") };
};

const badRequest = (detail: string): Refusal => new Refusal("BAD_REQUEST", detail);

const longestText = 512;

/** The fields of a JSON object, each checked as it is read. */
class Fields {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw badRequest(path === "" ? "the body must be a JSON object" : `${path} must be an object`);
    }
    this.#values = new Map(Object.entries(value));
    this.#path = path === "" ? "" : `${path}.`;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  string(name: string): string {
    const value = this.#values.get(name);
    if (isText(value)) return value;
    throw badRequest(`${this.#path}${name} must be a string of 1 to ${longestText} characters`);
  }

  strings(name: string): readonly string[] {
    const value = this.#values.get(name);
    if (Array.isArray(value) && value.every(isText) && new Set(value).size === value.length) return value;
    throw badRequest(`${this.#path}${name} must be a list of different strings`);
  }

  integer(name: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
    const value = this.#values.get(name);
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    throw badRequest(`${this.#path}${name} must be an integer from ${min} to ${max}`);
  }

  oneOf<const T extends string>(name: string, choices: readonly T[]): T {
    const value = this.#values.get(name);
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw badRequest(`${this.#path}${name} must be one of ${choices.join(", ")}`);
    return choice;
  }

  object(name: string): Fields {
    return new Fields(this.#values.get(name), this.#path + name);
  }
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= longestText;
