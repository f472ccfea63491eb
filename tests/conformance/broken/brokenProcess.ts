import { rmSync } from "node:fs";
import { join } from "node:path";

import type { BrokenVariant } from "./variants.ts";

const dies = (as: number, instead: number) => () => ({ exitCode: (code: number) => (code === as ? instead : code) });

/** Variants that end wrongly, or do not end when they must. */
export const brokenProcess: readonly BrokenVariant[] = [
  {
    name: "crashes-on-bad-config",
    fails: { "exit-64-on-bad-config": /no TE_CLUSTER_UID: exit 1/ },
    does: "exits 1 when its configuration is unusable",
    doctor: dies(64, 1),
  },
  {
    name: "takes-any-data",
    fails: { "exit-77-on-foreign-data": /as te-9: exit running/ },
    does: "takes another replica's data for its own",
    doctor: () => ({ beforeStart: ({ dataDir }) => rmSync(join(dataDir, "identity"), { force: true }) }),
  },
  {
    name: "crashes-on-damage",
    fails: { "exit-76-on-damaged-journal": /exit 1/ },
    does: "exits 1 when its journal is damaged",
    doctor: dies(76, 1),
  },
  {
    name: "crashes-on-a-lock",
    fails: { "exit-75-while-data-is-in-use": /the second process: exit 1/ },
    does: "exits 1 when its data is in use",
    doctor: dies(75, 1),
  },
  {
    name: "crashes-on-term",
    fails: { "term-drains-and-exits-0": /primary: exit 1/ },
    does: "exits 1 after it drained",
    doctor: dies(0, 1),
  },
];
