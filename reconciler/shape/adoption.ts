/**
 * What stands where an engine's children belong. A first run takes over whatever has their names, so it must first be
 * sure that all of it is the engine's: left by an earlier TradingEngine of this name, or made by a program of a person.
 */
import { childNames, labels } from "../../api/names.ts";
import type { TradingEngine } from "../../api/tradingEngine/index.ts";
import {
  configMaps,
  isNotFound,
  type KubeClient,
  type KubeObject,
  networkPolicies,
  persistentVolumeClaims,
  podDisruptionBudgets,
  type Resource,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
} from "../kube/index.ts";
import { childId } from "./childWatch.ts";

interface Place {
  readonly resource: Resource<KubeObject>;
  readonly name: string;
}

const placesOf = ({ metadata, spec }: TradingEngine): readonly Place[] => {
  const names = childNames(metadata.name);
  return [
    { resource: statefulSets, name: names.statefulSet },
    { resource: services, name: names.primaryService },
    { resource: services, name: names.standbyService },
    { resource: services, name: names.replicasService },
    { resource: configMaps, name: names.config },
    { resource: secrets, name: names.controlSecret },
    { resource: serviceAccounts, name: names.serviceAccount },
    { resource: podDisruptionBudgets, name: names.disruptionBudget },
    { resource: networkPolicies, name: names.networkPolicy },
    ...Array.from({ length: spec.replicas }, (_, ordinal) => ({
      resource: persistentVolumeClaims,
      name: names.volume(ordinal),
    })),
  ];
};

/** `Kind/name` of each object that has the name of a child and is none of this engine's. */
export const foreignChildren = async (
  client: Pick<KubeClient, "get">,
  engine: TradingEngine,
): Promise<readonly string[]> => {
  const { namespace, name } = engine.metadata;
  const found = await Promise.all(
    placesOf(engine).map(async (place) => {
      try {
        const { metadata } = await client.get(place.resource, { namespace, name: place.name });
        return metadata.labels?.[labels.engine] === name ? [] : [childId(place.resource, place.name)];
      } catch (error) {
        if (isNotFound(error)) return [];
        throw error;
      }
    }),
  );
  return found.flat();
};
