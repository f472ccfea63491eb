import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type Ack, AckLog } from "./ackLog.ts";

const clientId = (clientNumber: number) => `run-${clientNumber}`;

describe("AckLog", () => {
  it("gives back what was added, in order, over several chunks", () => {
    const log = new AckLog(clientId, 100_000);
    const expected: Ack[] = [];
    for (let n = 0; n < 10_000; n++) {
      const ack = { epoch: 1 + (n % 3), seq: n * 7, orderId: `o-${n}`, duplicate: n % 5 === 0 };
      log.add(n, ack, n + 0.25, n + 0.75);
      expected.push({ ...ack, clientId: clientId(n), sentMs: n + 0.25, ackedMs: n + 0.75 });
    }
    assert.deepEqual([...log.all()], expected);
  });

  it("keeps any position exactly", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(), fc.string(), fc.boolean(), (seq, epoch, orderId, duplicate) => {
        const log = new AckLog(clientId, 1);
        log.add(1, { epoch, seq, orderId, duplicate }, 1, 2);
        assert.deepEqual(
          [...log.all()],
          [{ clientId: "run-1", epoch, seq, orderId, duplicate, sentMs: 1, ackedMs: 2 }],
        );
      }),
    );
  });

  it("says when it is full", () => {
    const log = new AckLog(clientId, 2);
    const ack = { epoch: 1, seq: 1, orderId: "o", duplicate: false };
    log.add(1, ack, 0, 0);
    assert.equal(log.isFull, false);
    log.add(2, ack, 0, 0);
    assert.equal(log.isFull, true);
  });
});
