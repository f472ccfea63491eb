import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A directory that is removed after the test. Its path is short enough for a socket in it. */
export const temporaryDirectory = async (test: Pick<TestContext, "after">): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), "te-"));
  test.after(() => rm(path, { recursive: true, force: true }));
  return path;
};
