/** What server-side apply keeps in each object: often half of it, and needed by few. */
import type { KubeObject, ObjectMeta } from "./kubeObject.ts";

/** The object without metadata.managedFields; itself when it has none. */
export const dropManagedFields = <T extends KubeObject>(object: T): T =>
  // Asked first: most have none, and a copy costs more than the question.
  object.metadata.managedFields === undefined ? object : { ...object, metadata: withoutManagedFields(object.metadata) };

const withoutManagedFields = (all: ObjectMeta): ObjectMeta => {
  const { managedFields, ...metadata } = all;
  return managedFields === undefined ? all : metadata;
};

const field = ',"managedFields":';
/** Stands where managedFields were cut out: in no object of an API server they are a number. */
const mark = 0;

/** JSON with marks in place of managedFields, at whatever depth. */
export interface MarkedJson {
  readonly text: string;
  readonly marks: number;
}

/**
 * Cuts managedFields out of JSON before it is parsed: parsing them takes as long as parsing all the rest. Only where they
 * are spelt as the API server does, and hold no other array.
 *
 * Valid JSON stays valid only if each cut was of a whole array: the field's name in quotes after a comma is never part of
 * a string, and a cut that ended inside of a string would leave a quote too many.
 */
export const markManagedFields = (json: string): MarkedJson => {
  let text = "";
  let marks = 0;
  let from = 0;
  for (let at = json.indexOf(`${field}[`); at >= 0; at = json.indexOf(`${field}[`, at + 1)) {
    const open = at + field.length;
    const end = json.indexOf("]", open);
    const inner = json.indexOf("[", open + 1);
    if (end < 0 || (inner >= 0 && inner < end)) continue;
    text += `${json.slice(from, open)}${mark}`;
    from = end + 1;
    marks++;
  }
  return { text: text + json.slice(from), marks };
};

/**
 * Takes the marks out of these objects' metadata again. False if that does not make `marks`: one of them stood for a field
 * elsewhere, of which nobody asked to be rid.
 */
export const removeMarks = (objects: readonly unknown[], marks: number): boolean => {
  let left = marks;
  for (const object of objects as { metadata?: ObjectMeta | null }[]) {
    if (!isMarked(object.metadata)) continue;
    object.metadata = withoutManagedFields(object.metadata);
    left--;
  }
  return left === 0;
};

const isMarked = (metadata: ObjectMeta | null | undefined): metadata is ObjectMeta =>
  (metadata?.managedFields as unknown) === mark;
