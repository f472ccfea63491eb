/** Objects as the API server sends them: plain JSON, so that fields nobody here knows survive a round trip. */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Metadata of an object that the API server has stored. */
export interface ObjectMeta {
  readonly name: string;
  /** Absent on cluster-scoped objects. */
  readonly namespace?: string;
  readonly uid: string;
  /** Opaque: to be compared for equality only. */
  readonly resourceVersion: string;
  /** RFC 3339. */
  readonly creationTimestamp: string;
  readonly generation?: number;
  /** Set once deletion was asked for; the object stays until its finalizers are gone. */
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/** Who owns which fields, by server-side apply. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** What every stored object has. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** A stored object that lives in a namespace. */
export interface NamespacedObject extends KubeObject {
  readonly metadata: ObjectMeta & { readonly namespace: string };
}

/** An object on its way to the API server: any part of `T`, named. apiVersion and kind come from the resource. */
export type Draft<T extends KubeObject> = DeepPartial<Omit<T, "metadata" | "apiVersion" | "kind">> & {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: DraftMeta;
};

/** Metadata of a {@link Draft}. */
export type DraftMeta = Partial<ObjectMeta> & { readonly name: string };

type DeepPartial<T> = T extends readonly (infer U)[]
  ? readonly DeepPartial<U>[]
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/**
 * The JSON form of a generated model: its dates are strings on the wire, names that JavaScript reserves have no underscore
 * there (`from`, not `_from`), and nothing read is to be changed in place.
 */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer U)[]
    ? readonly Json<U>[]
    : T extends object
      ? { readonly [K in keyof T as K extends `_${infer Name}` ? Name : K]: Json<T[K]> }
      : T;

/** Names one object of a resource. */
export interface ObjectRef {
  /** Left out for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
}

export interface ListMeta {
  /** The point in time of the list: a watch starts from here. */
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface KubeList<T extends KubeObject> {
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** `namespace/name`, or only the name where there is no namespace: the key of stores and workqueues. */
export const objectKey = (object: { readonly metadata: ObjectRef }): string =>
  keyOf(object.metadata.namespace, object.metadata.name);

/** See {@link objectKey}. */
export const keyOf = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;

/** The reverse of {@link keyOf}. */
export const refOfKey = (key: string): ObjectRef => {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
};
