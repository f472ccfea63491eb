import { ask } from "../ask.ts";
import { kitCluster, type MutatingCall, mutatingCalls } from "../engine.ts";
import { kitToken } from "../hosts/engineHost.ts";
import type { Rule } from "../rule.ts";
import { done, must, refused } from "../violation.ts";

const callNames = Object.keys(mutatingCalls) as MutatingCall[];
const queries = ["/v1/status", "/v1/status/stream", "/v1/hash?seq=1", "/v1/journal"];

/** A complete body for every call, so that only what a rule changes in it can be the reason of a refusal. */
export const completeBody = (epoch: number): Readonly<Record<string, unknown>> => ({
  clusterUid: kitCluster,
  epoch,
  minPosition: { epoch: 0, seq: 0 },
  members: ["te-1"],
  k: 1,
  resume: "open",
  version: 1,
  mode: "reject",
  deadlineMs: 500,
  upstream: { instance: "te-1", replication: "127.0.0.1:1", orders: "127.0.0.1:1" },
});

export const accessRules: readonly Rule[] = [
  {
    id: "token-required",
    title: "Without the control token nothing is told and nothing is changed",
    prevents: "a stranger in the network fences the primary, and trading stops",
    async check(lab) {
      const engine = await lab.start("te-0");
      const { control } = engine.run.addresses;
      for (const token of [undefined, "", "wrong", `${kitToken}x`]) {
        const bearer = token === undefined ? "no token" : `token "${token}"`;
        for (const path of queries) {
          const answer = await ask({ method: "GET", address: control, path, token, deadlineMs: 3_000 });
          refused(`GET ${path} with ${bearer}`, answer, "UNAUTHORIZED");
        }
        for (const name of callNames) {
          const body = { ...completeBody(5), opId: `stranger-${name}` };
          const answer = await ask({ ...mutatingCalls[name], address: control, body, token });
          refused(`${name} with ${bearer}`, answer, "UNAUTHORIZED");
        }
      }
      const { epoch } = await engine.status();
      must(epoch.promised === 0, `promised ${epoch.promised} after refused calls`, "promised 0");
      return `401 UNAUTHORIZED on ${queries.length + callNames.length} routes, promised still 0`;
    },
  },
  {
    id: "wrong-cluster-refused",
    title: "A call that names another engine is refused and changes nothing",
    prevents: "a restored copy, or a mix-up of addresses, fences the engine that trades",
    async check(lab) {
      const engine = await lab.start("te-0");
      for (const name of callNames) {
        const body = { ...completeBody(5), opId: `foreign-${name}`, clusterUid: "trading/another" };
        refused(`${name} for trading/another`, await engine.send(name, body), "WRONG_CLUSTER");
      }
      const { epoch } = await engine.status();
      must(epoch.promised === 0, `promised ${epoch.promised} after foreign calls`, "promised 0");
      return `409 WRONG_CLUSTER from ${callNames.length} calls, promised still 0`;
    },
  },
  {
    id: "bad-request-refused",
    title: "A call with a missing or senseless field is refused and changes nothing",
    prevents: "a caller's mistake is read as some other order to act",
    async check(lab) {
      const engine = await lab.start("te-0");
      for (const name of callNames) {
        const good = { ...completeBody(5), opId: `bad-${name}` };
        const bodies: readonly (object | string)[] = [
          "{",
          "[]",
          { ...good, epoch: undefined },
          { ...good, epoch: -1 },
          { ...good, epoch: "5" },
          { ...good, epoch: 1.5 },
          { ...good, opId: undefined },
          { ...good, clusterUid: undefined },
        ];
        for (const body of bodies) {
          const told = typeof body === "string" ? body : JSON.stringify(body);
          refused(`${name} ${told}`, await engine.send(name, body), "BAD_REQUEST");
        }
      }
      refused("GET /v1/nothing", await engine.get("/v1/nothing"), "NOT_FOUND");
      const { epoch } = await engine.status();
      must(epoch.promised === 0, `promised ${epoch.promised} after bad calls`, "promised 0");
      return `400 BAD_REQUEST for 8 bad bodies of ${callNames.length} calls; 404 NOT_FOUND for an unknown route`;
    },
  },
  {
    id: "same-operation-same-answer",
    title: "A call that comes again with its opId has one effect and the same answer",
    prevents: "a lost answer makes the operator act twice: a second epoch start, a second demotion",
    async check(lab) {
      const primary = await lab.start("te-0");
      const standby = await lab.start("te-1");
      const twice = async (name: MutatingCall, engine: typeof primary, body: object): Promise<void> => {
        const whole = { ...completeBody(1), opId: `twice-${name}`, ...body };
        const first = done(`${name}, first time`, await engine.send(name, whole));
        const second = done(`${name}, second time`, await engine.send(name, whole));
        const same = JSON.stringify(first) === JSON.stringify(second);
        must(same, `${name} again: ${JSON.stringify(second)}`, `${name} again: ${JSON.stringify(first)}`);
      };
      await twice("fence", standby, {});
      await twice("promote", primary, {});
      const upstream = { instance: "te-0", ...primary.run.addresses };
      await twice("follow", standby, { upstream });
      await primary.accepting();
      await twice("members", primary, { version: 2 });
      await twice("drain", primary, {});
      await twice("undrain", primary, {});
      await twice("demote", primary, { deadlineMs: 5_000 });
      const starts = (await primary.journal()).filter(({ type }) => type === "epochStart").length;
      must(starts === 1, `${starts} epoch starts in the journal`, "one epoch start");
      return "fence, promote, follow, members, drain, undrain and demote sent twice: same answers, one epoch start";
    },
  },
];
