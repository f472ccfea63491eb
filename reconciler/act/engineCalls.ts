import { clusterUid } from "../../api/names.ts";
import { type AddressOf, type EngineClient, EngineRefusal, type EngineTarget } from "../contract/index.ts";
import type { Participant } from "../decide/index.ts";
import type { EngineKey } from "../observe/index.ts";
import type { EngineCalls } from "./ports.ts";

const readDeadlineMs = 500;
/** Each makes a promise or a record durable first, and a slow disk must not make it unknown. */
const writeDeadlineMs = 1_500;
/** To finish what was accepted before a planned move; orders are refused meanwhile. */
const drainDeadlineMs = 500;

export interface EngineCallsOptions {
  readonly client: EngineClient;
  readonly engine: EngineKey;
  readonly addressOf: AddressOf;
  readonly token: ControlToken;
  readonly newId: () => string;
}

/** The bearer token of an engine's control API. */
export interface ControlToken {
  get(): Promise<string>;
  /** The engine refused it: read it again before the next use. */
  invalidate(): void;
}

/** The role lane's calls to the replicas of one engine. */
export function createEngineCalls(options: EngineCallsOptions): EngineCalls {
  const { client, engine, addressOf, token, newId } = options;
  const uid = clusterUid(engine.namespace, engine.name);

  const identity = (epoch: number) => ({ clusterUid: uid, epoch, opId: newId() });
  const ask = async <T>(replica: Participant, call: (target: EngineTarget) => Promise<T>): Promise<T> => {
    const target = { control: addressOf(replica.pod).control, token: await token.get() };
    try {
      return await call(target);
    } catch (error) {
      if (error instanceof EngineRefusal && error.problem.code === "UNAUTHORIZED") token.invalidate();
      throw error;
    }
  };

  return {
    status: (replica) => ask(replica, (target) => client.status(target, readDeadlineMs)),
    fence: (replica, epoch) => ask(replica, (target) => client.fence(target, identity(epoch), writeDeadlineMs)),
    promote: (replica, epoch, minPosition, { members, k }) => {
      const request = {
        ...identity(epoch),
        minPosition,
        members: members.filter((member) => member !== replica.name),
        k,
        resume: "open",
      } as const;
      return ask(replica, (target) => client.promote(target, request, writeDeadlineMs));
    },
    follow: (replica, epoch, upstream) => {
      const { replication, orders } = addressOf(upstream.pod);
      const request = { ...identity(epoch), upstream: { instance: upstream.name, replication, orders } };
      return ask(replica, (target) => client.follow(target, request, writeDeadlineMs));
    },
    setMembers: (replica, epoch, version, { members, k }) => {
      const others = members.filter((member) => member !== replica.name);
      const request = { ...identity(epoch), version, members: others, k };
      return ask(replica, (target) => client.setMembers(target, request, writeDeadlineMs));
    },
    grant: (replica, epoch, ttlMs) =>
      ask(replica, (target) => client.grant(target, { ...identity(epoch), ttlMs }, readDeadlineMs)),
    demote: (replica, epoch) => {
      const request = { ...identity(epoch), deadlineMs: drainDeadlineMs };
      return ask(replica, (target) => client.demote(target, request, drainDeadlineMs + readDeadlineMs));
    },
  };
}
