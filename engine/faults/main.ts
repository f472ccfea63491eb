/** Entry of the test image: the reference engine, with the faults that TE_FAULTS names. */
import { machine } from "../process/machine.ts";
import { runEngine } from "../process/runEngine.ts";
import { readFaultSwitches } from "./faultSwitches.ts";
import { faultyDisk } from "./faultyDisk.ts";
import { poison } from "./poison.ts";

runEngine((env) => {
  const switches = readFaultSwitches(env);
  const disk = faultyDisk(machine.disk, switches, machine.timers);
  const { poisonPrefix } = switches;
  return { ...machine, disk, ...(poisonPrefix === undefined ? {} : { beforeApply: poison(poisonPrefix) }) };
});
