import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { quantityValue } from "../../api/schema/quantity.ts";
import { type ObservedClaim, planVolumes } from "./volumePlan.ts";

const spec = (size: string, storageClassName?: string, replicas = 3) => ({
  storage: { size },
  storageClassName,
  replicas,
});

const claim = (ordinal: number, change: Partial<ObservedClaim> = {}): ObservedClaim => ({
  ordinal,
  name: `data-btc-usdt-${ordinal}`,
  uid: `uid-${ordinal}`,
  bound: true,
  classIsOurs: true,
  storageClassName: "fast",
  size: "20Gi",
  ...change,
});

describe("planVolumes", () => {
  it("leaves everything to the spec where nothing exists", () => {
    assert.deepEqual(planVolumes(spec("20Gi", "fast"), [], undefined), { volumes: {}, obsolete: [] });
  });

  it("says nothing of volumes that are as the spec wants, so that binding one is no reason for a run", () => {
    const plan = planVolumes(spec("20Gi", "fast"), [claim(0), claim(1, { bound: false })], {
      storageClassName: "fast",
      size: "20480Mi",
    });
    assert.deepEqual(plan, { volumes: {}, obsolete: [] });
  });

  it("lets a bound volume grow", () => {
    assert.deepEqual(planVolumes(spec("30Gi", "fast"), [claim(0)], undefined).volumes, {});
  });

  it("never shrinks a bound volume", () => {
    assert.deepEqual(planVolumes(spec("10Gi", "fast"), [claim(0)], undefined).volumes, {
      0: { storageClassName: "fast", size: "20Gi" },
    });
  });

  it("keeps the class of a bound volume, and still grows it", () => {
    assert.deepEqual(planVolumes(spec("30Gi", "slow"), [claim(1)], undefined).volumes, {
      1: { storageClassName: "fast", size: "30Gi" },
    });
  });

  it("does not name the class that the cluster chose by default", () => {
    const bound = claim(0, { classIsOurs: false, storageClassName: "standard" });
    assert.deepEqual(planVolumes(spec("20Gi"), [bound], undefined).volumes, {});
    assert.deepEqual(planVolumes(spec("10Gi"), [bound], undefined).volumes, { 0: { size: "20Gi" } });
  });

  const obsolete = [
    { title: "another class", wanted: spec("20Gi", "slow"), change: {}, gone: true },
    { title: "a class where the default is wanted", wanted: spec("20Gi"), change: {}, gone: true },
    { title: "the default, filled in", wanted: spec("20Gi"), change: { classIsOurs: false }, gone: false },
    {
      title: "the default where a class is wanted",
      wanted: spec("20Gi", "fast"),
      change: { classIsOurs: false, storageClassName: "standard" },
      gone: true,
    },
    { title: "another size", wanted: spec("10Gi", "fast"), change: {}, gone: true },
    { title: "a replica that is not wanted", wanted: spec("10Gi", "slow", 0), change: {}, gone: false },
  ];
  for (const { title, wanted, change, gone } of obsolete) {
    it(`${gone ? "makes anew" : "keeps"} a claim without a volume: ${title}`, () => {
      const plan = planVolumes(wanted, [claim(0, { ...change, bound: false })], undefined);
      assert.deepEqual(
        plan.obsolete.map(({ ordinal }) => ordinal),
        gone ? [0] : [],
      );
      assert.deepEqual(plan.volumes, {});
    });
  }

  it("keeps the live claim template, which cannot be changed in place", () => {
    const template = { storageClassName: "fast", size: "20Gi" };
    assert.deepEqual(planVolumes(spec("30Gi", "fast"), [], template).volumeTemplate, template);
  });

  it("makes the StatefulSet anew with the claims, or its controller would make them again as wrong as before", () => {
    const unbound = claim(0, { bound: false, storageClassName: "nope" });
    const template = { storageClassName: "nope", size: "20Gi" };
    const plan = planVolumes(spec("20Gi", "fast"), [unbound], template);
    assert.equal(plan.obsoleteTemplate, true);
    assert.equal(plan.volumeTemplate, undefined, "the new set takes the class from the spec");
  });

  it("leaves the StatefulSet alone while no claim has to go, whatever its claim template says", () => {
    const template = { storageClassName: "fast", size: "10Gi" };
    const plan = planVolumes(spec("20Gi", "fast"), [claim(0)], template);
    assert.equal(plan.obsoleteTemplate, undefined);
    assert.deepEqual(plan.volumeTemplate, template);
  });

  it("never gives a bound volume less than it has or another class, and never takes it for obsolete", () => {
    const size = fc.integer({ min: 1, max: 100 }).map((gib) => `${gib}Gi`);
    const className = fc.option(fc.constantFrom("fast", "slow"), { nil: undefined });
    fc.assert(
      fc.property(size, className, size, fc.constantFrom("fast", "slow"), (wantedSize, wantedClass, has, hasClass) => {
        const plan = planVolumes(
          spec(wantedSize, wantedClass),
          [claim(0, { size: has, storageClassName: hasClass })],
          undefined,
        );
        const given = plan.volumes[0] ?? { size: wantedSize, storageClassName: wantedClass };
        assert.ok(quantityValue(given.size) >= quantityValue(has));
        assert.ok(given.storageClassName === undefined || given.storageClassName === hasClass);
        assert.deepEqual(plan.obsolete, []);
      }),
    );
  });
});
