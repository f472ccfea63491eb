import { z } from "zod";
import { matching, withRules } from "../schema/rule.ts";

const registry = "([A-Za-z0-9.-]+(:[0-9]+)?/)?";
const repository = "[a-z0-9._-]+(/[a-z0-9._-]+)*";
const tag = ":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
const digest = "@sha256:[a-f0-9]{64}";

export const image = withRules(z.string().max(512), [
  matching(
    new RegExp(`^${registry}${repository}(${tag}|(${tag})?${digest})$`),
    "image must name a tag or, better, a digest, such as registry.example.com/engine@sha256:<64 hex digits>: without one, replicas may run different versions",
  ),
]).describe("Container image of the engine, with a tag or a digest. A change is rolled out by upgradeStrategy.");
