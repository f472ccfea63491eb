import type { SimulatedCluster } from "./simulatedCluster.ts";
import type { SimulatedMachine } from "./simulatedMachine.ts";

/** One thing that goes wrong, and comes right again after a while. */
type Fault = (cluster: SimulatedCluster, machine: SimulatedMachine) => void | Promise<void>;

const later = ({ scheduler, random }: SimulatedCluster, min: number, max: number): Promise<void> =>
  scheduler.sleep(random.between(min, max));

const restartAfter = async (cluster: SimulatedCluster, ...machines: SimulatedMachine[]): Promise<void> => {
  await later(cluster, 2, 80);
  for (const machine of machines) machine.start();
};

const everyHost = ({ names }: SimulatedCluster): string[] => [...names, "operator", "clients"];

/** Faults of the design's list that take no real machine. */
export const faults = {
  async kill(cluster, machine) {
    machine.kill();
    await restartAfter(cluster, machine);
  },
  async powerFailure(cluster, machine) {
    machine.losePower();
    await restartAfter(cluster, machine);
  },
  async blackout(cluster) {
    for (const machine of cluster.machines) machine.losePower();
    await restartAfter(cluster, ...cluster.machines);
  },
  async standstill(cluster, machine) {
    machine.stop();
    await later(cluster, 5, 250);
    machine.go();
  },
  async oneWay(cluster, machine) {
    const other = cluster.random.pick(everyHost(cluster));
    if (cluster.random.chance(0.5)) cluster.network.block(machine.name, other);
    else cluster.network.block(other, machine.name);
    await later(cluster, 10, 250);
    cluster.network.heal();
  },
  async partition(cluster, machine) {
    const others = everyHost(cluster).filter(() => cluster.random.chance(0.7));
    for (const other of others) {
      cluster.network.block(machine.name, other);
      cluster.network.block(other, machine.name);
    }
    await later(cluster, 10, 250);
    cluster.network.heal();
  },
  /** The primary keeps only its clients: what it takes from them is the tail that has to be cut later. */
  async exile(cluster, machine) {
    const primary = cluster.machines.find(({ replica }) => replica !== null && "term" in replica.replica.standing);
    const { name } = primary ?? machine;
    for (const other of [...cluster.names, "operator"]) {
      cluster.network.block(name, other);
      cluster.network.block(other, name);
    }
    await later(cluster, 60, 250);
    cluster.network.heal();
  },
  connectionReset(cluster, machine) {
    cluster.network.reset(machine.name);
  },
  async hungDisk(cluster, machine) {
    machine.disk.hang();
    await later(cluster, 10, 200);
    machine.disk.recover();
  },
  async slowDisk(cluster, machine) {
    machine.disk.faults.slowness = cluster.random.between(5, 40);
    await later(cluster, 20, 300);
    machine.disk.faults.slowness = 1;
  },
  failingSync(_, machine) {
    machine.excuses.add("io");
    machine.disk.faults.failingSyncs = 1;
  },
  async fullDisk(cluster, machine) {
    machine.excuses.add("diskFull");
    machine.disk.fill(cluster.random.integer(0, 300));
    await later(cluster, 10, 150);
    machine.disk.faults.capacityBytes = Number.POSITIVE_INFINITY;
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

/** Makes everything well again. */
export const repair = ({ network, machines }: SimulatedCluster): void => {
  network.heal();
  for (const machine of machines) {
    machine.disk.recover();
    machine.disk.faults.failingSyncs = 0;
    machine.disk.faults.slowness = 1;
    machine.disk.faults.capacityBytes = Number.POSITIVE_INFINITY;
    machine.go();
    machine.start();
  }
};
