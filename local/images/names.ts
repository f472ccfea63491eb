/** Names of the images that are built here. */

const prefix = "localhost/enginekeeper";

/** Runs a pod's namespaces. */
export const pauseImage = `${prefix}/pause:v1`;
/** Node.js and the libraries that it needs: what the Dockerfile starts from where no registry is reached. */
export const baseImage = `${prefix}/base:dev`;
/** The reference engine, and the order client that tests and the demo use. */
export const engineImage = `${prefix}/engine:dev`;
/** The reconciler with Pulumi. */
export const operatorImage = `${prefix}/operator:dev`;
