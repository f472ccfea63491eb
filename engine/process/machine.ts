import { tcpNetwork } from "../replication/tcpNetwork.ts";
import { nodeDisk } from "../storage/nodeDisk.ts";
import { bootClock, monotonicClock } from "./clock.ts";
import type { World } from "./replicaCore.ts";
import { systemTimers } from "./timers.ts";

/** The real world: this machine's disk, network and time. */
export const machine: World = {
  disk: nodeDisk,
  network: tcpNetwork,
  clock: monotonicClock,
  bootClock,
  timers: systemTimers,
};
