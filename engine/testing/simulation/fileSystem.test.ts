import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { FileSystem } from "./fileSystem.ts";
import { seededRandom } from "./random.ts";

/** What `look` sees after a power failure, over many of them. */
const afterPowerFailures = (prepare: (files: FileSystem) => void, look: (files: FileSystem) => string): Set<string> => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 400; seed += 1) {
    const files = new FileSystem("/data");
    prepare(files);
    files.losePower(seededRandom(seed));
    seen.add(look(files));
  }
  return seen;
};

const namesIn = (files: FileSystem): string => files.names("/data").toSorted().join(" ");

const contentOf = (files: FileSystem): string => files.file("/data/file").content.toString().replaceAll("\0", "_");

/** A file with `content` that survives everything. */
const safe = (files: FileSystem, content: string): ReturnType<FileSystem["create"]> => {
  const file = files.create("/data/file");
  files.sync(file, files.write(file, 0, Buffer.from(content)));
  files.syncDirectory("/data");
  return file;
};

describe("a power failure of the simulated disk", () => {
  it("leaves what was synced", () => {
    const seen = afterPowerFailures((files) => safe(files, "synced"), contentOf);
    assert.deepEqual([...seen], ["synced"]);
  });

  it("leaves any part of what was not, in any order", () => {
    const seen = afterPowerFailures((files) => {
      const file = safe(files, "");
      files.write(file, 0, Buffer.from("first-"));
      files.write(file, 6, Buffer.from("second"));
    }, contentOf);
    for (const content of ["", "first-", "first-second", "fir", "first-sec", "______second"]) {
      assert.ok(seen.has(content), `${content} is among ${[...seen].join(", ")}`);
    }
  });

  it("may undo a cut", () => {
    const seen = afterPowerFailures((files) => files.truncate(safe(files, "content"), 3), contentOf);
    assert.deepEqual(seen, new Set(["content", "con"]));
  });

  it("may lose a file whose directory was not synced, though its content was", () => {
    const seen = afterPowerFailures((files) => {
      const file = files.create("/data/new");
      files.sync(file, files.write(file, 0, Buffer.from("content")));
    }, namesIn);
    assert.deepEqual(seen, new Set(["", "new"]));
  });

  it("renames wholly or not at all, and removes in any order", () => {
    const renamed = afterPowerFailures(
      (files) => {
        safe(files, "old");
        const file = files.create("/data/file.new");
        files.sync(file, files.write(file, 0, Buffer.from("new")));
        files.syncDirectory("/data");
        files.rename("/data/file.new", "/data/file");
      },
      (files) => `${namesIn(files)}: ${contentOf(files)}`,
    );
    assert.deepEqual(renamed, new Set(["file file.new: old", "file: new"]));
    const removed = afterPowerFailures((files) => {
      for (const name of ["a", "b"]) files.create(`/data/${name}`);
      files.syncDirectory("/data");
      for (const name of ["b", "a"]) files.remove(`/data/${name}`);
    }, namesIn);
    assert.deepEqual(removed, new Set(["", "a", "b", "a b"]));
  });
});

describe("a sync that fails", () => {
  it("shows readers everything, and lets no later sync write what it lost", () => {
    let attempts = 0;
    const seen = afterPowerFailures((files) => {
      const file = safe(files, "");
      files.write(file, 0, Buffer.from("content"));
      attempts += 1;
      files.failSync(file, seededRandom(attempts));
      assert.equal(contentOf(files), "content");
      files.sync(file, files.latest);
    }, contentOf);
    for (const content of ["", "cont", "content"])
      assert.ok(seen.has(content), `${content} is among ${[...seen].join()}`);
  });

  it("is made good by writing again", () => {
    const seen = afterPowerFailures((files) => {
      const file = safe(files, "");
      files.write(file, 0, Buffer.from("content"));
      files.failSync(file, seededRandom(3));
      files.sync(file, files.write(file, 0, Buffer.from("content")));
    }, contentOf);
    assert.deepEqual([...seen], ["content"]);
  });
});
