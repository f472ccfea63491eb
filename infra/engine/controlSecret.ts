import type { types } from "@pulumi/kubernetes";
import type { Input } from "@pulumi/pulumi";
import { childNames } from "../../api/names.ts";
import type { Engine } from "./engine.ts";
import { childMetadata } from "./metadata.ts";

/** Key of the token in the Secret, and so its file name in the container. */
export const tokenKey = "token";

/** Holds the token that replicas ask of whoever calls their control API, and of each other. */
export const controlSecret = (engine: Engine, token: Input<string>): types.input.core.v1.Secret => ({
  metadata: childMetadata(engine, childNames(engine.name).controlSecret),
  type: "Opaque",
  stringData: { [tokenKey]: token },
});
