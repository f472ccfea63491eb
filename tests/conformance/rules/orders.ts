import { describeAnswer } from "../ask.ts";
import type { Rule } from "../rule.ts";
import { done, must, Violation } from "../violation.ts";

const good = { clientId: "bad", type: "limit", side: "buy", price: "100.00", quantity: "1" };

/** What no engine may take as an order. */
const senseless: readonly (readonly [string, object | string])[] = [
  ["not JSON", "{"],
  ["a list", "[]"],
  ["no client id", { ...good, clientId: undefined }],
  ["a client id of 10,000 characters", { ...good, clientId: "x".repeat(10_000) }],
  ["a client id that is an object", { ...good, clientId: { toString: "x" } }],
  ["an unknown side", { ...good, side: "hold" }],
  ["a side __proto__", { ...good, side: "__proto__" }],
  ["an unknown type", { ...good, type: "constructor" }],
  ["price NaN", { ...good, price: "NaN" }],
  ["a negative price", { ...good, price: "-1" }],
  ["price 0", { ...good, price: "0" }],
  ["a price between two ticks", { ...good, price: "100.001" }],
  ["a price beyond exact numbers", { ...good, price: "9".repeat(40) }],
  ["price Infinity", { ...good, price: "1e999" }],
  ["no quantity", { ...good, quantity: undefined }],
  ["a negative quantity", { ...good, quantity: "-1" }],
  ["quantity 0", { ...good, quantity: "0" }],
  ["a quantity beyond exact numbers", { ...good, quantity: "9".repeat(40) }],
];

export const orderRules: readonly Rule[] = [
  {
    id: "not-primary-leads-on",
    title: "A replica that does not lead answers 421 and names who does, or nobody",
    prevents: "clients wait for a timeout, or take a standby's answer for an acknowledgement",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      const lonely = await standby.bid("nobody-leads");
      const nobody = lonely.status === 421 && lonely.body["leader"] === null;
      must(
        nobody,
        `without a leader: ${lonely.status}, leader ${JSON.stringify(lonely.body["leader"])}`,
        "421, leader null",
      );
      await lab.elect(1, [primary, standby]);
      done("an order", await primary.bid("placed"));
      const leader = { instance: "te-0", orders: primary.run.addresses.orders };
      for (const [what, answer] of [
        ["POST", await standby.bid("elsewhere")],
        ["GET", await standby.find("placed")],
        ["DELETE", await standby.cancel("placed")],
      ] as const) {
        const told = `${what}: ${answer.status} ${String(answer.body["code"])}, leader ${JSON.stringify(answer.body["leader"])}`;
        const leads = JSON.stringify(answer.body["leader"]) === JSON.stringify(leader);
        const known = answer.status === 421 && answer.body["code"] === "NOT_PRIMARY" && leads;
        must(known, told, `${what}: 421 NOT_PRIMARY, leader ${JSON.stringify(leader)}`);
      }
      return "421 NOT_PRIMARY: leader null while nobody leads, then te-0 with its order entry";
    },
  },
  {
    id: "client-id-is-one-order",
    title: "One client id is one order: the same body gets the same answer, another body is refused",
    prevents: "a client that sends again after a lost answer trades twice",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      const first = done("an order", await primary.bid("once"));
      must(first["duplicate"] === false, `duplicate ${String(first["duplicate"])}`, "duplicate false the first time");
      for (const [what, answer] of [
        ["again", await primary.bid("once")],
        ["GET", await primary.find("once")],
      ] as const) {
        // An engine may tell more than the first answer, such as what became of the order since.
        const body = done(what, answer);
        const repeated = Object.fromEntries(Object.keys(first).map((field) => [field, body[field]]));
        const expected = JSON.stringify({ ...first, duplicate: true });
        must(JSON.stringify(repeated) === expected, `${what}: ${JSON.stringify(body)}`, `${what}: ${expected}`);
      }
      const other = await primary.order({ clientId: "once", side: "buy", price: "100.00", quantity: "2" });
      const told = `${other.status} ${String(other.body["code"])}`;
      must(told === "409 CLIENT_ID_REUSED", `another body: ${told}`, "another body: 409 CLIENT_ID_REUSED");
      const burst = await Promise.all(Array.from({ length: 20 }, () => primary.bid("at-once")));
      const seqs = new Set(burst.map((answer) => done("one of 20 at once", answer)["seq"]));
      must(seqs.size === 1, `20 at once became records ${[...seqs].join(" ")}`, "one record");
      const fresh = burst.filter(({ body }) => body["duplicate"] === false).length;
      must(fresh === 1, `${fresh} of 20 are told as new`, "one of 20 is told as new");
      const records = (await primary.journal()).filter(({ clientId }) => clientId !== undefined).length;
      must(records === 2, `${records} orders in the journal`, "2 orders in the journal");
      return "same body: same answer, duplicate true; other body: 409 CLIENT_ID_REUSED; 20 at once: one record";
    },
  },
  {
    id: "cancel-is-final",
    title: "A cancellation is answered once and for all, and a cancelled order never trades",
    prevents: "a trade against an order that its owner has taken back",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      done("an order", await primary.bid("taken-back"));
      const first = done("cancel", await primary.cancel("taken-back"));
      const again = done("cancel again", await primary.cancel("taken-back"));
      const same = first["seq"] === again["seq"] && again["duplicate"] === true;
      must(same, `again: ${JSON.stringify(again)}`, `seq ${String(first["seq"])}, duplicate true`);
      const sell = { clientId: "sell", side: "sell", price: "100.00", quantity: "1" };
      const taker = done("an order against it", await primary.order(sell));
      const trades = taker["trades"] as unknown[];
      must(trades.length === 0, `trades ${JSON.stringify(trades)}`, "no trade");
      const missing = await primary.cancel("never-placed");
      must(missing.status === 404, `cancel of an unknown order: ${describeAnswer(missing)}`, "404");
      return "cancelled once, the same answer again, no trade with it; unknown order 404";
    },
  },
  {
    id: "bad-order-changes-nothing",
    title: "A senseless order is refused with 4xx and a code, and nothing of it reaches the history",
    prevents: "one client's mistake or malice stops every replica at the same record",
    async check(lab) {
      const [primary, standby] = await Promise.all([lab.start("te-0"), lab.start("te-1")]);
      await lab.elect(1, [primary, standby]);
      const before = (await primary.status()).watermarks.received;
      for (const [what, body] of senseless) {
        const answer = await primary.order(body);
        const code = answer.body["code"];
        const typed = answer.status >= 400 && answer.status < 500 && typeof code === "string";
        must(typed, `${what}: ${describeAnswer(answer)}`, `${what}: 4xx with a code`);
      }
      for (const clientId of ["__proto__", "constructor", "toString"]) {
        const answer = await primary.find(clientId);
        if (answer.status < 400 || answer.status >= 500) {
          throw new Violation(`GET /v1/orders/${clientId}: ${describeAnswer(answer)}`, "404, or 400");
        }
      }
      const after = (await primary.status()).watermarks.received;
      must(after === before, `${after - before} records after them`, "no record");
      done("a good order", await primary.bid("constructor"));
      return `${senseless.length} senseless orders refused, no record; a client id "constructor" is an order like any other`;
    },
  },
];
