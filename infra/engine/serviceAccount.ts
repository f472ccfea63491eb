import type { types } from "@pulumi/kubernetes";
import { childNames } from "../../api/names.ts";
import type { Engine } from "./engine.ts";
import { childMetadata } from "./metadata.ts";

/** An identity without any right: an engine has no business with the Kubernetes API. */
export const serviceAccount = (engine: Engine): types.input.core.v1.ServiceAccount => ({
  metadata: childMetadata(engine, childNames(engine.name).serviceAccount),
  automountServiceAccountToken: false,
});
