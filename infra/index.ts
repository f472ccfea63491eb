/**
 * The platform program: installs enginekeeper into a cluster. Its stack's configuration:
 *
 * - enginekeeper:operatorImage       image of the daemon
 * - enginekeeper:namespaces          namespaces that may hold engines; default [trading]
 * - enginekeeper:passphrase          secret; encrypts the states of the engines' stacks
 * - enginekeeper:operatorNamespace   namespace of the daemon; default enginekeeper-system
 */
import { readPlatformConfig } from "./platform/config.ts";
import { Platform } from "./platform/platform.ts";

const config = readPlatformConfig(process.env);
const platform = new Platform("enginekeeper", config);

/** Namespace of the daemon. */
export const namespace = config.operatorNamespace;
/** Namespaces that may hold engines. */
export const engineNamespaces = config.namespaces;
/** Name of the CustomResourceDefinition. */
export const crd = platform.crd;
/** Name of the daemon's Deployment. */
export const deployment = platform.deployment;
