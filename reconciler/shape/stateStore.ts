/**
 * Where the state of an engine's stack is kept between runs: compressed, in a Secret beside the engine, which goes when
 * the engine goes. A daemon keeps nothing itself, so that any replica can take over.
 *
 * Losing the Secret harms nothing: names and field manager of the children are fixed, and a run from the empty state
 * adopts what is there.
 */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { childNames, group, labels, labelValues } from "../../api/names.ts";
import { isNotFound, type KubeClient, type OwnerReference, type Secret, secrets } from "../kube/index.ts";
import { type Checkpoint, parseCheckpoint, sameState } from "./checkpoint.ts";
import { parseRecord, type ShapeRecord, sameRecord } from "./shapeRecord.ts";

export interface StoredState {
  /** Absent before the first run, and when what is stored cannot be read. */
  readonly checkpoint?: Checkpoint;
  readonly record?: ShapeRecord;
  /** The engine's control token. */
  readonly token?: string;
  /** Version of the Secret; absent when there is none. */
  readonly resourceVersion?: string;
  /** Why a stored state could not be read. */
  readonly unreadable?: string;
}

/** What a run leaves; without a record until one succeeded. */
export interface NewState {
  readonly checkpoint: Checkpoint;
  readonly record?: ShapeRecord;
  readonly token: string;
}

/** Whose state it is. */
export interface StateOwner {
  readonly namespace: string;
  readonly engine: string;
  readonly owner: OwnerReference;
}

/** The API server takes no Secret with more data than this. */
export const largestState = 1_048_576;

/** The state does not fit into a Secret. */
export class StateTooLarge extends Error {
  override readonly name = "StateTooLarge";
}

export interface StateStore {
  load(namespace: string, engine: string): Promise<StoredState>;
  /**
   * Writes what changed since `previous` was loaded; nothing when nothing did. Throws an ApiError `conflict` when
   * somebody else wrote in between, and {@link StateTooLarge}.
   */
  save(owner: StateOwner, next: NewState, previous: StoredState): Promise<StoredState>;
  remove(namespace: string, engine: string): Promise<void>;
}

const recordAnnotation = `${group}/shape-record`;
const dataKey = "checkpoint.json.gz";
const tokenKey = "control-token";
const secretType = `${group}/stack-state`;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export const createStateStore = (client: Pick<KubeClient, "get" | "create" | "update" | "delete">): StateStore => ({
  load: async (namespace, engine) => {
    const name = childNames(engine).stackState;
    try {
      return await readSecret(await client.get(secrets, { namespace, name }));
    } catch (error) {
      if (isNotFound(error)) return {};
      throw error;
    }
  },

  save: async (owner, next, previous) => {
    if (isSame(next, previous)) return previous;
    const draft = await writeSecret(owner, next, previous.resourceVersion);
    const written =
      previous.resourceVersion === undefined
        ? await client.create(secrets, draft)
        : await client.update(secrets, draft);
    return { ...next, resourceVersion: written.metadata.resourceVersion };
  },

  remove: async (namespace, engine) => {
    try {
      await client.delete(secrets, { namespace, name: childNames(engine).stackState });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  },
});

const isSame = (next: NewState, previous: StoredState): boolean =>
  previous.checkpoint !== undefined &&
  next.token === previous.token &&
  sameRecord(next.record, previous.record) &&
  sameState(next.checkpoint, previous.checkpoint);

const readSecret = async (secret: Secret): Promise<StoredState> => {
  const { resourceVersion } = secret.metadata;
  const encoded = secret.data?.[dataKey];
  const encodedToken = secret.data?.[tokenKey];
  const known = {
    resourceVersion,
    ...(encodedToken === undefined ? {} : { token: Buffer.from(encodedToken, "base64").toString("utf8") }),
  };
  try {
    if (encoded === undefined) throw new Error(`the Secret has no ${dataKey}`);
    const text = (await decompress(Buffer.from(encoded, "base64"))).toString("utf8");
    const record = parseRecord(secret.metadata.annotations?.[recordAnnotation]);
    return { ...known, checkpoint: parseCheckpoint(text), ...(record === undefined ? {} : { record }) };
  } catch (error) {
    return { ...known, unreadable: error instanceof Error ? error.message : String(error) };
  }
};

const writeSecret = async (
  { namespace, engine, owner }: StateOwner,
  { checkpoint, record, token }: NewState,
  resourceVersion: string | undefined,
) => {
  const data = await compress(JSON.stringify(checkpoint));
  if (data.length > largestState) {
    throw new StateTooLarge(
      `the state of ${namespace}/${engine} is ${data.length} bytes compressed, and a Secret holds ${largestState}: ` +
        "keep large files out of spec.config",
    );
  }
  return {
    metadata: {
      namespace,
      name: childNames(engine).stackState,
      labels: {
        [labels.engine]: engine,
        [labels.name]: labelValues.name,
        [labels.instance]: engine,
        [labels.managedBy]: labelValues.managedBy,
        [labels.partOf]: labelValues.partOf,
      },
      ownerReferences: [owner],
      ...(record === undefined ? {} : { annotations: { [recordAnnotation]: JSON.stringify(record) } }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    type: secretType,
    data: { [dataKey]: data.toString("base64"), [tokenKey]: Buffer.from(token).toString("base64") },
  };
};
