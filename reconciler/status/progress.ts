import type { Facts } from "./conditions.ts";
import { type Judgement, judge } from "./judgement.ts";

/** Whether a change is on its way to the replicas; False with the reason when it is stuck. */
export function judgeProgress({ snapshot, replicas, problems, decision }: Facts): Judgement {
  if (snapshot.deleting) return judge("Progressing", "True", "Deleting", "The engine is being taken down.");
  if (snapshot.spec.hibernate) return judge("Progressing", "False", "Hibernated", "spec.hibernate is true.");
  const [first] = problems;
  if (first !== undefined) {
    const others = problems.length === 1 ? "" : ` (and ${problems.length - 1} more)`;
    return judge("Progressing", "False", first.reason, `${first.replica}: ${first.message}${others}.`);
  }
  if (snapshot.spec.paused) return judge("Progressing", "False", "SpecPaused", "spec.paused is true.");
  if (!snapshot.applied) {
    const { shape } = snapshot;
    return shape !== undefined && shape.result !== "succeeded"
      ? judge("Progressing", "False", "UpFailed", shape.message ?? "The update of the engine's objects failed.")
      : judge("Progressing", "True", "UpRunning", "The spec is being applied to the engine's objects.");
  }
  const outdated = snapshot.replicas.filter(({ pod }) => pod?.outdated === true);
  const wanted = snapshot.spec.replicas;
  if (outdated.length > 0)
    return judge(
      "Progressing",
      "True",
      "Updating",
      `Still to be replaced: ${outdated.map(({ name }) => name).join(", ")}.`,
    );
  const waiting = replicas.filter(({ ready }) => !ready).map(({ name }) => name);
  if (waiting.length === 0 && replicas.length === wanted)
    return judge("Progressing", "False", "Complete", "Every replica runs what the spec wants.");
  const isFirst = decision.verdict.kind === "none" && decision.verdict.epoch === 0;
  const message = waiting.length === 0 ? "Replicas are being removed." : `Not ready yet: ${waiting.join(", ")}.`;
  return judge("Progressing", "True", isFirst ? "Creating" : "Repairing", message);
}
