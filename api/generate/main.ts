/** `npm run generate`: writes every generated file. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { generatedFiles } from "./generatedFiles.ts";

const root = join(import.meta.dirname, "..", "..");

for (const { path, content } of generatedFiles()) {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  process.stdout.write(`${path}\n`);
}
