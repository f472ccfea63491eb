/** What an engine's exit code says, for the person who has to act on it. */
const meanings: Readonly<Record<number, string>> = {
  64: "its configuration is refused: correct spec.config",
  70: "a record cannot be applied: correct the engine's image",
  71: "its volume is full: raise spec.storage.size",
  74: "its volume fails: replace the volume",
  76: "its journal or snapshot is corrupt: restore the replica from another",
  77: "its volume belongs to another engine",
  78: "its volume was written by a newer version: use that image",
  79: "its state differs from the other replicas': rebuild the replica",
  137: "it was killed, perhaps for want of memory: look at spec.resources.limits",
};

/** The meaning of an exit code of the engine contract; undefined for a code without one. */
export const meaningOfExit = (code: number): string | undefined => meanings[code];
