/**
 * Marks an object that its writer always writes whole.
 *
 * Server-side apply otherwise merges it field by field, and an apply that leaves out the last
 * field of a map that it owned leaves `null` there: the object is then refused as invalid, and
 * whoever applies it can never write again.
 */
export const atomic = { "x-kubernetes-map-type": "atomic" } as const;
