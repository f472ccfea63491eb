import { posix } from "node:path";

import type { Random } from "./random.ts";

/** A change of a file that a crash may lose. */
type Change =
  | { readonly kind: "write"; readonly id: number; readonly position: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly id: number; readonly length: number };

export interface FileNode {
  readonly kind: "file";
  /** What readers see. */
  content: Buffer;
  /** What is on the platter for certain. */
  synced: Buffer;
  unsynced: Change[];
}

export interface DirectoryNode {
  readonly kind: "directory";
  entries: Map<string, Node>;
  synced: Map<string, Node>;
  /** Each is one step: a rename takes one name away and gives another in the same. */
  unsynced: (readonly (readonly [name: string, node: Node | null])[])[];
}

type Node = FileNode | DirectoryNode;

const newFile = (): FileNode => ({ kind: "file", content: Buffer.alloc(0), synced: Buffer.alloc(0), unsynced: [] });

const newDirectory = (): DirectoryNode => ({ kind: "directory", entries: new Map(), synced: new Map(), unsynced: [] });

/** An error as the operating system gives it. */
export const errno = (code: string, path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${path}`), { code });

/** What a power failure does to the changes that were not synced. */
export type Loss = "all" | "tail" | "some";

/**
 * A file system that promises no more than POSIX: an unsynced write may survive a power failure as a whole, in part, or not at
 * all, before or after another one; so may an unsynced creation, renaming or removal.
 */
export class FileSystem {
  readonly #root = newDirectory();
  #changes = 0;

  /** @param mount a directory that exists for certain, as a mounted volume does. */
  constructor(mount: string) {
    let directory = this.#root;
    for (const name of partsOf(mount)) {
      const child = newDirectory();
      directory.entries.set(name, child);
      directory.synced.set(name, child);
      directory = child;
    }
  }

  makeDirectory(path: string): void {
    let directory = this.#root;
    for (const name of partsOf(path)) {
      const found = directory.entries.get(name);
      if (found?.kind === "file") throw errno("ENOTDIR", path);
      const child = found ?? newDirectory();
      if (found === undefined) change(directory, [[name, child]]);
      directory = child;
    }
  }

  create(path: string): FileNode {
    const { directory, name } = this.#locate(path);
    const found = directory.entries.get(name);
    if (found?.kind === "directory") throw errno("EISDIR", path);
    const file = found ?? newFile();
    if (found === undefined) change(directory, [[name, file]]);
    else this.truncate(found, 0);
    return file;
  }

  file(path: string): FileNode {
    const node = this.#find(path);
    if (node.kind === "directory") throw errno("EISDIR", path);
    return node;
  }

  names(path: string): string[] {
    return [...this.#directory(path).entries.keys()];
  }

  rename(from: string, to: string): void {
    const source = this.#locate(from);
    const target = this.#locate(to);
    const node = this.#find(from);
    if (source.directory !== target.directory) throw errno("EXDEV", `${from} -> ${to}`);
    change(source.directory, [
      [source.name, null],
      [target.name, node],
    ]);
  }

  remove(path: string): void {
    const { directory, name } = this.#locate(path);
    this.#find(path);
    change(directory, [[name, null]]);
  }

  syncDirectory(path: string): void {
    const directory = this.#directory(path);
    directory.synced = new Map(directory.entries);
    directory.unsynced = [];
  }

  /** Bytes of all files. */
  get used(): number {
    return sizeOf(this.#root);
  }

  /** Answers the number of the change, for {@link sync}. */
  write(file: FileNode, position: number, bytes: Buffer): number {
    this.#changes += 1;
    this.#change(file, { kind: "write", id: this.#changes, position, bytes: Buffer.from(bytes) });
    return this.#changes;
  }

  truncate(file: FileNode, length: number): void {
    this.#changes += 1;
    this.#change(file, { kind: "truncate", id: this.#changes, length });
  }

  /** Number of the latest change. */
  get latest(): number {
    return this.#changes;
  }

  /** Makes the changes up to number `last` safe. */
  sync(file: FileNode, last: number): void {
    file.synced = file.unsynced.filter(({ id }) => id <= last).reduce(applied, file.synced);
    file.unsynced = file.unsynced.filter(({ id }) => id > last);
  }

  /**
   * A sync that fails, as Linux does it: some of the bytes are on the platter and some are not, and none is tried again,
   * although readers go on to see all of them. Lengths are kept elsewhere, and survive.
   */
  failSync(file: FileNode, random: Random): void {
    const written = survivors(file.unsynced, random).filter((each) => each.kind === "write");
    const kept = file.unsynced.filter((each) => each.kind === "truncate");
    file.synced = [...kept, ...written].sort((a, b) => a.id - b.id).reduce(applied, file.synced);
    file.unsynced = [];
  }

  /** A write that its process did not live to see the end of: only the first `kept` bytes were copied. */
  cutShort(file: FileNode, id: number, kept: number): void {
    file.unsynced = file.unsynced.map((each) =>
      each.id === id && each.kind === "write" ? { ...each, bytes: each.bytes.subarray(0, kept) } : each,
    );
    file.content = file.unsynced.reduce(applied, file.synced);
  }

  losePower(random: Random): void {
    crashDirectory(this.#root, random, new Set());
  }

  #change(file: FileNode, step: Change): void {
    file.unsynced.push(step);
    file.content = applied(file.content, step);
  }

  #directory(path: string): DirectoryNode {
    const node = this.#find(path);
    if (node.kind === "file") throw errno("ENOTDIR", path);
    return node;
  }

  #locate(path: string): { directory: DirectoryNode; name: string } {
    return { directory: this.#directory(posix.dirname(path)), name: posix.basename(path) };
  }

  #find(path: string): Node {
    let node: Node = this.#root;
    for (const name of partsOf(path)) {
      const child: Node | undefined = node.kind === "directory" ? node.entries.get(name) : undefined;
      if (child === undefined) throw errno("ENOENT", path);
      node = child;
    }
    return node;
  }
}

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "");

const change = (directory: DirectoryNode, step: DirectoryNode["unsynced"][number]): void => {
  directory.unsynced.push(step);
  applyStep(directory.entries, step);
};

const applyStep = (entries: Map<string, Node>, step: DirectoryNode["unsynced"][number]): void => {
  for (const [name, node] of step) {
    if (node === null) entries.delete(name);
    else entries.set(name, node);
  }
};

const applied = (content: Buffer, step: Change): Buffer => {
  const length = step.kind === "truncate" ? step.length : Math.max(content.length, step.position + step.bytes.length);
  const result = Buffer.alloc(length);
  content.copy(result);
  if (step.kind === "write") step.bytes.copy(result, step.position);
  return result;
};

const sizeOf = (node: Node): number =>
  node.kind === "file" ? node.content.length : [...node.entries.values()].reduce((sum, each) => sum + sizeOf(each), 0);

/** What is left of unsynced changes. */
const survivors = (changes: readonly Change[], random: Random): Change[] => {
  const loss = random.pick<Loss>(["all", "tail", "some"]);
  switch (loss) {
    case "all":
      return [];
    case "tail": {
      const kept = changes.slice(0, random.integer(0, changes.length));
      const last = kept.at(-1);
      return last === undefined ? [] : [...kept.slice(0, -1), ...torn(last, random)];
    }
    case "some":
      return changes.flatMap((each) => blocksOf(each, random)).filter(() => random.chance(0.5));
  }
};

/** A write that ended at any byte. */
const torn = (step: Change, random: Random): Change[] =>
  step.kind === "write" ? [{ ...step, bytes: step.bytes.subarray(0, random.integer(0, step.bytes.length)) }] : [step];

/** The parts of a write that the platter takes one by one, in any order. */
const blocksOf = (step: Change, random: Random): Change[] => {
  if (step.kind === "truncate") return [step];
  const blockBytes = random.pick([16, 64, 512, 4096]);
  const blocks: Change[] = [];
  for (let start = 0; start < step.bytes.length; ) {
    const position = step.position + start;
    const end = Math.min(step.bytes.length, start + blockBytes - (position % blockBytes));
    blocks.push({ ...step, position, bytes: step.bytes.subarray(start, end) });
    start = end;
  }
  return blocks;
};

const crashDirectory = (directory: DirectoryNode, random: Random, seen: Set<Node>): void => {
  const kept = random.chance(0.3) ? [] : directory.unsynced.filter(() => random.chance(0.5));
  for (const step of kept) applyStep(directory.synced, step);
  directory.unsynced = [];
  directory.entries = new Map(directory.synced);
  for (const node of directory.synced.values()) {
    if (seen.has(node)) continue;
    seen.add(node);
    if (node.kind === "directory") crashDirectory(node, random, seen);
    else crashFile(node, random);
  }
};

const crashFile = (file: FileNode, random: Random): void => {
  file.synced = survivors(file.unsynced, random).reduce(applied, file.synced);
  file.unsynced = [];
  file.content = file.synced;
};
