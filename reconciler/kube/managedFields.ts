/** What server-side apply keeps in each object: often half of it, and needed by few. */
import type { KubeObject, ObjectMeta } from "./kubeObject.ts";

/** The object without metadata.managedFields; itself when it has none. */
export const dropManagedFields = <T extends KubeObject>(object: T): T => {
  const { managedFields, ...metadata }: ObjectMeta & { readonly managedFields?: unknown } = object.metadata;
  return managedFields === undefined ? object : { ...object, metadata };
};
