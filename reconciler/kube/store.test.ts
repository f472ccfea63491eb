import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type KubeObject, objectKey } from "./kubeObject.ts";
import { createStore } from "./store.ts";

interface Thing extends KubeObject {
  readonly colours: readonly string[];
}

const thing = (name: string, colours: readonly string[], namespace?: string): Thing => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: {
    name,
    uid: name,
    resourceVersion: "1",
    creationTimestamp: "",
    ...(namespace === undefined ? {} : { namespace }),
  },
  colours,
});

const names = (things: readonly Thing[]) => things.map((found) => found.metadata.name).sort();

describe("store", () => {
  it("finds by namespace and name, and tells the same name in two namespaces apart", () => {
    const store = createStore<Thing>();
    const here = thing("a", [], "here");
    const there = thing("a", [], "there");
    const nowhere = thing("a", []);
    for (const object of [here, there, nowhere]) store.set(objectKey(object), object);
    assert.equal(store.get("here", "a"), here);
    assert.equal(store.get("there", "a"), there);
    assert.equal(store.get(undefined, "a"), nowhere);
    assert.equal(store.byKey("here/a"), here);
    assert.equal(store.size, 3);
  });

  it("says which index is missing, instead of finding nothing for ever", () => {
    assert.throws(() => createStore<Thing>().byIndex("colour", "red"), /no index "colour"/);
  });

  it("does as a plain list that is searched from end to end (model)", () => {
    const colour = fc.constantFrom("red", "green", "blue");
    const name = fc.constantFrom("a", "b", "c", "d");
    const step = fc.oneof(
      fc.record({ set: name, colours: fc.uniqueArray(colour, { maxLength: 2 }) }),
      fc.record({ remove: name }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const store = createStore<Thing>({ colour: (object) => object.colours });
        let model: Thing[] = [];
        for (const each of steps) {
          const key = "set" in each ? each.set : each.remove;
          const before = model.find((object) => object.metadata.name === key);
          model = model.filter((object) => object.metadata.name !== key);
          if ("set" in each) {
            const next = thing(key, each.colours);
            model.push(next);
            assert.equal(store.set(key, next), before);
          } else {
            assert.equal(store.remove(key), before);
          }
          assert.deepEqual(names(store.list()), names(model));
          assert.deepEqual([...store.keys()].sort(), names(model));
          for (const wanted of ["red", "green", "blue"]) {
            const found = model.filter((object) => object.colours.includes(wanted));
            assert.deepEqual(names(store.byIndex("colour", wanted)), names(found));
          }
        }
      }),
    );
  });
});
