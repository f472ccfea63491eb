/** The root file system of the base image: the running Node.js, the libraries it needs, and little more. */

import { existsSync, realpathSync } from "node:fs";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run } from "../process/run.ts";

const certificates = "/etc/ssl/certs/ca-certificates.crt";

/** Lays the root file system out in `folder`. */
export const layOutBase = async (folder: string): Promise<void> => {
  const node = join(folder, "usr/local/bin/node");
  await copy(process.execPath, node);
  await chmod(node, 0o755);
  for (const library of await sharedLibraries(process.execPath)) await copy(library, join(folder, library));
  await mkdir(join(folder, "etc"), { recursive: true });
  await writeFile(
    join(folder, "etc/passwd"),
    "root:x:0:0:root:/:/sbin/nologin\napp:x:65532:65532:app:/tmp:/sbin/nologin\n",
  );
  await writeFile(join(folder, "etc/group"), "root:x:0:\napp:x:65532:\n");
  await writeFile(join(folder, "etc/nsswitch.conf"), "hosts: files dns\n");
  if (existsSync(certificates)) await copy(certificates, join(folder, certificates));
  await mkdir(join(folder, "tmp"), { recursive: true });
  await chmod(join(folder, "tmp"), 0o1777);
};

/** Paths of the shared libraries of a program, the dynamic linker included. */
const sharedLibraries = async (program: string): Promise<string[]> => {
  const printed = await run("ldd", [program], { timeoutMs: 10_000 });
  return [...printed.matchAll(/(\/\S+)\s+\(0x/g)].flatMap((match) => match[1] ?? []);
};

const copy = async (from: string, to: string): Promise<void> => {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(realpathSync(from), to);
};
