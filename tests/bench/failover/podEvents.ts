import { annotations, childNames } from "../../../api/names.ts";
import { pods } from "../../../reconciler/kube/index.ts";
import { annotateEngine } from "../../support/engines.ts";
import { deletePrimaryPod } from "../../support/failoverScenario.ts";
import { killPrimaryProcess } from "../../support/killProcess.ts";
import { type FailoverEvent, nothingToHeal } from "./event.ts";

export const processKill: FailoverEvent = {
  name: "process-kill",
  title: "SIGKILL of the primary's process on its node",
  inject: async ({ engine, layout, primary }) => {
    await killPrimaryProcess(layout, engine.engine)(primary, engine.client);
    return nothingToHeal;
  },
};

export const podDelete: FailoverEvent = {
  name: "pod-delete",
  title: "the primary's pod is deleted with its grace period",
  inject: async ({ engine, primary: { metadata } }) => {
    const { namespace, name, uid } = metadata;
    await engine.client.delete(pods, { namespace, name }, { uid });
    return nothingToHeal;
  },
};

export const podForceDelete: FailoverEvent = {
  name: "pod-force-delete",
  title: "the primary's pod is deleted without grace",
  inject: async ({ engine, primary }) => {
    await deletePrimaryPod(primary, engine.client);
    return nothingToHeal;
  },
};

export const switchover: FailoverEvent = {
  name: "switchover",
  title: "a person asks for another primary",
  inject: async ({ engine, primary }) => {
    const ordinal = Number(primary.metadata.name.split("-").at(-1));
    const target = childNames(engine.engine).pod((ordinal + 1) % 3);
    await annotateEngine(engine, { [annotations.switchoverTo]: target });
    return nothingToHeal;
  },
};
