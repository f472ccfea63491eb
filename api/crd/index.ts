/** The CustomResourceDefinitions of enginekeeper. */
export { type CustomResourceDefinition, tradingEngineCrd } from "./tradingEngineCrd.ts";
