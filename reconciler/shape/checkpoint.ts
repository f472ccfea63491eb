/** The file in which Pulumi's file backend keeps a stack: what must be known of its form to store it elsewhere. */
import { canonicalJson } from "./contentHash.ts";
import { omit } from "./omit.ts";
import { stackProject } from "./stackName.ts";

interface Deployment {
  readonly manifest?: unknown;
  readonly secrets_providers?: { readonly type?: string; readonly state?: { readonly salt?: string } };
  readonly resources?: readonly Readonly<Record<string, unknown>>[];
  readonly pending_operations?: readonly unknown[];
}

/** A stack's state, as the file backend versions it. */
export interface Checkpoint {
  readonly version: number;
  readonly checkpoint: { readonly stack: string; readonly latest?: Deployment };
}

/** The state of a stack that was never updated: what `pulumi stack init` writes, without starting it. */
export const emptyCheckpoint = (stack: string): Checkpoint => ({
  version: 3,
  checkpoint: { stack: `organization/${stackProject}/${stack}` },
});

/** Reads a checkpoint. Throws with the reason when it is not one. */
export const parseCheckpoint = (text: string): Checkpoint => {
  const parsed = JSON.parse(text) as Partial<Checkpoint> | null;
  if (typeof parsed?.version !== "number" || typeof parsed.checkpoint?.stack !== "string") {
    throw new Error("not a Pulumi checkpoint: version or stack name is missing");
  }
  return parsed as Checkpoint;
};

/**
 * Leaves out what only costs room or does harm: where in the program a resource was made (paths of this machine), and
 * operations that were pending when a run was stopped. The latter would be reported on every later run; since creating
 * is an upsert under a fixed name, there is nothing to find out about them.
 */
export const cleanCheckpoint = (checkpoint: Checkpoint): Checkpoint => {
  const { latest } = checkpoint.checkpoint;
  if (latest === undefined) return checkpoint;
  const resources = latest.resources?.map((resource) => omit(resource, "sourcePosition", "stackTrace"));
  const cleaned = { ...omit(latest, "pending_operations"), ...(resources === undefined ? {} : { resources }) };
  return { ...checkpoint, checkpoint: { ...checkpoint.checkpoint, latest: cleaned } };
};

/**
 * Whether two checkpoints say the same of the stack. When and in which order they were written does not count, nor how a
 * secret was encrypted, which differs each time: a changed secret also changes the version of the object that holds it.
 */
export const sameState = (a: Checkpoint, b: Checkpoint): boolean =>
  canonicalJson(contentOf(a)) === canonicalJson(contentOf(b));

const contentOf = ({ checkpoint }: Checkpoint): unknown => {
  const { resources = [], ...latest } = omit(checkpoint.latest ?? {}, "manifest");
  const byName = Object.fromEntries(resources.map((resource) => [String(resource["urn"]), withoutOrder(resource)]));
  return { ...checkpoint, latest: { ...latest, byName } };
};

/** A resource with its dependencies in order, as deep as they are, and without ciphertexts. */
const withoutOrder = (value: unknown, key = ""): unknown => {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return key === "dependencies" ? items.map(String).sort() : items.map((item) => withoutOrder(item));
  }
  if (typeof value !== "object" || value === null) return key === "ciphertext" ? "" : value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      withoutOrder(inner, key === "propertyDependencies" ? "dependencies" : name),
    ]),
  );
};

/** The epoch that the stack's outputs tell of; 0 before there was one. */
export const recordedEpoch = (checkpoint: Checkpoint | undefined): number => {
  const stack = checkpoint?.checkpoint.latest?.resources?.find(({ type }) => type === "pulumi:pulumi:Stack");
  const outputs = stack?.["outputs"] as { readonly epoch?: unknown } | undefined;
  return typeof outputs?.epoch === "number" ? outputs.epoch : 0;
};

/**
 * The salt that the passphrase was stretched with. It must be put back into the stack's settings: Pulumi would make a
 * new one, which costs a second key derivation and rewrites every secret in the state.
 */
export const encryptionSalt = (checkpoint: Checkpoint): string | undefined => {
  const providers = checkpoint.checkpoint.latest?.secrets_providers;
  return providers?.type === "passphrase" ? providers.state?.salt : undefined;
};
