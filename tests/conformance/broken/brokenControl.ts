import { kitToken } from "../hosts/engineHost.ts";
import { completeBody } from "../rules/access.ts";
import { type Call, fieldsOf, get, isPost, ok, type Reply, withFields } from "./doctor.ts";
import type { BrokenVariant } from "./variants.ts";

const codeOf = (reply: Reply): unknown => fieldsOf(reply)["code"];

/** Variants that misread calls of the control API, or claim to have carried them out. */
export const brokenControl: readonly BrokenVariant[] = [
  {
    name: "open-to-everybody",
    fails: { "token-required": /with no token: 200/ },
    does: "asks nobody for the token",
    doctor: () => ({ control: { call: (call) => ({ ...call, authorization: `Bearer ${kitToken}` }) } }),
  },
  {
    name: "any-cluster",
    fails: { "wrong-cluster-refused": /fence for trading\/another: 200/ },
    does: "obeys calls that name another engine",
    doctor: () => ({
      control: { call: (call) => withFields(call, (fields) => ({ ...fields, clusterUid: "trading/conformance" })) },
    }),
  },
  {
    name: "guesses-fields",
    fails: { "bad-request-refused": /fence .: 200/ },
    does: "fills in what a call lacks",
    doctor: () => ({
      control: {
        call(call) {
          if (call.method === "GET") return call;
          const { epoch, opId = "guessed" } = fieldsOf(call);
          const guessed = Number.isSafeInteger(epoch) && Number(epoch) > 0 ? Number(epoch) : 5;
          return {
            ...call,
            body: JSON.stringify({ ...completeBody(guessed), ...fieldsOf(call), epoch: guessed, opId }),
          };
        },
      },
    }),
  },
  {
    name: "acts-twice",
    fails: { "same-operation-same-answer": /promote, second time: 409 WRONG_STATE/ },
    does: "carries out a repeated operation again",
    doctor: () => {
      let calls = 0;
      const renamed = (call: Call): Call => {
        calls += 1;
        return withFields(call, (fields) => ({ ...fields, opId: `${String(fields["opId"])}-${calls}` }));
      };
      return { control: { call: renamed } };
    },
  },
  {
    name: "takes-stale-epochs",
    fails: { "stale-epoch-refused": /fence with epoch 4 after a promise of 5: 200/ },
    does: "takes any epoch for the newest one",
    doctor: () => {
      let newest = 0;
      return {
        control: {
          call: (call) =>
            withFields(call, (fields) => {
              const { epoch } = fields;
              if (typeof epoch !== "number") return fields;
              newest = Math.max(newest, epoch);
              return { ...fields, epoch: newest };
            }),
        },
      };
    },
  },
  {
    name: "only-says-fenced",
    fails: {
      "fenced-primary-is-silent": /orders in flight at the fence: 200/,
      "fence-ends-following": /durable 3 after answering 2/,
    },
    does: "answers a fence and goes on as before",
    doctor: () => ({
      control: {
        async call(call, place) {
          if (!isPost(call, "/v1/fence")) return call;
          const status = fieldsOf(await place.ask("control", get("/v1/status")));
          const { instance, durable, blank } = status;
          return ok({
            instance,
            promised: fieldsOf(call)["epoch"],
            durable,
            blank,
            wasPrimary: false,
            primaryEpoch: 0,
          });
        },
      },
    }),
  },
  {
    name: "modest-fence",
    fails: { "fence-tells-position": /primary: durable \d+, acknowledged/ },
    does: "answers a fence with a position that it had before",
    doctor: () => ({
      control: {
        reply: (reply, call) =>
          isPost(call, "/v1/fence")
            ? withFields(reply, (fields) => {
                const { epoch, seq } = fields["durable"] as { epoch: number; seq: number };
                return { ...fields, durable: { epoch, seq: Math.max(0, seq - 10) } };
              })
            : reply,
      },
    }),
  },
  {
    name: "promotes-behind",
    fails: { "promote-behind-refused": /at 4 with minPosition 5: 200/ },
    does: "does not look at minPosition",
    doctor: () => ({
      control: {
        call: (call) =>
          isPost(call, "/v1/promote")
            ? withFields(call, (fields) => ({ ...fields, minPosition: { epoch: 0, seq: 0 } }))
            : call,
      },
    }),
  },
  {
    name: "always-opens",
    fails: { "resume-cancel-only": /a new order: 200/ },
    does: "opens for orders whatever resume says",
    doctor: () => ({
      control: {
        call: (call) =>
          isPost(call, "/v1/promote") ? withFields(call, (fields) => ({ ...fields, resume: "open" })) : call,
      },
    }),
  },
  {
    name: "agrees-to-everything",
    fails: {
      "epoch-leads-once": /promote of a follower in its primary's epoch: 200/,
      "calls-need-their-role": /demote of a standby: 200/,
    },
    does: "answers 200 to what it cannot do in its role",
    doctor: () => ({
      control: { reply: (reply) => (codeOf(reply) === "WRONG_STATE" ? ok({ instance: "te-0" }) : reply) },
    }),
  },
  {
    name: "demotes-one-short",
    fails: { "demote-tells-final-position": /final \d+, acknowledged|durable \d+/ },
    does: "answers a demotion with the last record but one",
    doctor: () => ({
      control: {
        reply: (reply, call) =>
          isPost(call, "/v1/demote") && reply.status === 200
            ? withFields(reply, (fields) => {
                const { epoch, seq } = fields["final"] as { epoch: number; seq: number };
                return { ...fields, final: { epoch, seq: seq - 1 } };
              })
            : reply,
      },
    }),
  },
  {
    name: "demotes-too-late",
    fails: { "demote-gives-up-in-time": /a tail that nobody confirms: 200/ },
    does: "takes a demotion that ran out of time for done",
    doctor: () => ({
      control: {
        reply: (reply, call) =>
          isPost(call, "/v1/demote") && reply.status === 504
            ? ok({ instance: "te-0", final: { epoch: 1, seq: 1 } })
            : reply,
      },
    }),
  },
  {
    name: "only-says-drained",
    fails: { "drain-and-undo": /an order: 200/ },
    does: "answers a drain and goes on as before",
    doctor: () => ({
      control: {
        call: (call) => (isPost(call, "/v1/drain") ? ok({ instance: "te-0", intake: "reject" }) : call),
      },
    }),
  },
  {
    name: "members-at-once",
    fails: { "members-change": /te-2, which holds nothing: 200/ },
    does: "answers a change of members without waiting for their copies",
    doctor: () => ({
      control: {
        reply: (reply, call) =>
          call.path === "/v1/members" && reply.status === 504
            ? ok({ instance: "te-0", version: fieldsOf(call)["version"], committed: 1 })
            : reply,
      },
    }),
  },
  {
    name: "needs-no-grant",
    fails: { "k-0-needs-a-grant": /an order without a grant: 200/ },
    does: "takes k = 0 for a reason to ask nobody",
    doctor: () => ({
      control: {
        call: (call) =>
          isPost(call, "/v1/promote")
            ? withFields(call, (fields) => (fields["k"] === 0 ? { ...fields, members: [] } : fields))
            : call,
      },
    }),
  },
  {
    name: "leads-early",
    fails: { "nothing-before-epoch-start": /GET \/v1\/primary: 200/ },
    does: "is the primary for probes as soon as it was promoted",
    doctor: () => ({
      control: {
        async call(call, place) {
          if (call.path !== "/v1/primary") return call;
          const { role } = fieldsOf(await place.ask("control", get("/v1/status")));
          return role === "primary" ? ok({ ok: true, reason: "primary" }) : call;
        },
      },
    }),
  },
];
