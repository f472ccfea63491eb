import { join } from "node:path";

import { diskFailure, FatalError } from "../process/exit.ts";
import type { Disk } from "./disk.ts";
import { readIfPresent, writeDurably } from "./durableFile.ts";

/** Whose history a data directory holds. */
export interface Identity {
  readonly clusterUid: string;
  readonly instance: string;
}

/**
 * Claims an empty data directory for `identity`, or checks that it is the one that claimed it: a volume
 * attached to the wrong replica must not join with another's history.
 */
export const claimDataDirectory = async (disk: Disk, dataDir: string, identity: Identity): Promise<void> => {
  const path = join(dataDir, "identity");
  const owner = `${identity.clusterUid}\n${identity.instance}\n`;
  let found: string | null;
  try {
    found = await readIfPresent(disk, path);
    if (found === null) await writeDurably(disk, path, Buffer.from(owner));
  } catch (error) {
    throw diskFailure(`claim ${dataDir}`, error);
  }
  if (found === null || found === owner) return;
  const [clusterUid = "", instance = ""] = found.split("\n");
  throw new FatalError(
    "identity",
    `${dataDir} belongs to replica ${instance} of ${clusterUid}, and this process is ${identity.instance} of ` +
      `${identity.clusterUid}: attach the right volume, or an empty one`,
  );
};
