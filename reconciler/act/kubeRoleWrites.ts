import { childNames, fieldManagers, labels } from "../../api/names.ts";
import { isAlreadyExists, isConflict, isInvalid, isNotFound, type KubeClient, leases, pods } from "../kube/index.ts";
import { type EngineKey, leaseObject } from "../observe/index.ts";
import { tradingEngines } from "../tradingEngine/index.ts";
import { LeaseTaken, type RoleWrites } from "./ports.ts";

/** A write that takes longer is unknown, and the next pass looks again: no election waits for a slow API server. */
const writeDeadlineMs = 2_000;

/** The role lane's writes for one engine. `client` must carry the leader's fence. */
export function createKubeRoleWrites(client: KubeClient, engine: EngineKey, ownerUid: string): RoleWrites {
  const { namespace, name } = engine;
  const options = { timeoutMs: writeDeadlineMs, manager: fieldManagers.role } as const;
  return {
    async putLease({ version, ...change }) {
      const draft = leaseObject({ engine, ownerUid, resourceVersion: version, ...change });
      try {
        const written =
          version === undefined
            ? await client.create(leases, draft, options)
            : await client.update(leases, draft, options);
        return written.metadata.resourceVersion;
      } catch (error) {
        if (isConflict(error) || isAlreadyExists(error) || isNotFound(error))
          throw new LeaseTaken(`${namespace}/${childNames(name).lease}`);
        throw error;
      }
    },

    async labelRole(pod, role) {
      // The test makes the uid a precondition: a new pod of the same name must not inherit the old one's role.
      const body = [
        { op: "test", path: "/metadata/uid", value: pod.uid },
        { op: "add", path: `/metadata/labels/${pointerPart(labels.role)}`, value: role },
      ];
      const labelled = client.patch(pods, { namespace, name: pod.name }, body, { ...options, type: "json" });
      await unlessGone(labelled.catch(unlessChanged));
    },

    async deletePod(pod) {
      await unlessGone(
        client.delete(pods, { namespace, name: pod.name }, { uid: pod.uid, timeoutMs: writeDeadlineMs }),
      );
    },

    async dropAnnotation(annotation, value) {
      const path = `/metadata/annotations/${pointerPart(annotation)}`;
      const body = [
        { op: "test", path, value },
        { op: "remove", path },
      ];
      const dropped = client.patch(tradingEngines, engine, body, { ...options, type: "json" });
      await unlessGone(dropped.catch(unlessChanged));
    },
  };
}

/** The object, or the one with this uid, is not there any more: nothing is left to do. */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

/** A key as one part of a JSON pointer (RFC 6901). */
const pointerPart = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** A failed `test`: another pod has the name, or the person asked for something else since. That is left alone. */
function unlessChanged(error: unknown): void {
  if (!isInvalid(error)) throw error;
}
