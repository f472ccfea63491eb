import * as pulumi from "@pulumi/pulumi";
import { explainProblems, longestName, parseSpec, type TradingEngineSpec } from "../api/tradingEngine/index.ts";
import { defaultOperatorNamespace } from "./operator.ts";

/** Who keeps the pair's engine. */
export type PairMode =
  /** The daemon: the stack holds a TradingEngine object and waits until it is Ready. */
  | { readonly mode: "managed" }
  /** The stack itself builds the engine; a person promotes its primaries. */
  | { readonly mode: "direct"; readonly controlToken: pulumi.Output<string>; readonly retain: boolean };

/** One trading pair, as its stack's configuration describes it. */
export type PairConfig = PairMode & {
  readonly namespace: string;
  /** Name of the engine; it is the stack's name. */
  readonly engine: string;
  readonly spec: TradingEngineSpec;
  /** The spec as it was written, without defaults: the API server fills them in. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly operatorNamespace: string;
};

const stackFile = (): string => `Pulumi.${pulumi.getStack()}.yaml`;

const engineName = (): string => {
  const stack = pulumi.getStack();
  if (/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(stack) && stack.length <= longestName) return stack;
  throw new pulumi.RunError(
    `The stack's name becomes the engine's name, and ${stack} cannot be one: name the stack with small letters, digits and hyphens, starting with a letter, at most ${longestName} characters, such as btc-usdt`,
  );
};

const writtenSpec = (config: pulumi.Config): Readonly<Record<string, unknown>> => {
  const written = config.getObject<unknown>("engine");
  if (typeof written === "object" && written !== null && !Array.isArray(written)) {
    return written as Readonly<Record<string, unknown>>;
  }
  throw new pulumi.RunError(
    `${stackFile()} does not say what the engine is: write the spec of the TradingEngine under trading:engine, beginning with tradingPair and image`,
  );
};

const checkedSpec = (written: unknown): TradingEngineSpec => {
  const parsed = parseSpec(written);
  if (parsed.ok) return parsed.value;
  throw new pulumi.RunError(
    `The engine described in ${stackFile()} cannot be built. Correct there, under trading:engine:\n${explainProblems(parsed.problems)}`,
  );
};

const modeOf = (config: pulumi.Config): PairMode => {
  const mode = config.get("mode") ?? "managed";
  switch (mode) {
    case "managed":
      return { mode };
    case "direct": {
      const controlToken = config.getSecret("controlToken");
      if (controlToken !== undefined) return { mode, controlToken, retain: config.getBoolean("retain") ?? true };
      throw new pulumi.RunError(
        'Mode direct needs the token by which the engine is controlled. Set it once: pulumi config set --secret controlToken "$(openssl rand -hex 32)"',
      );
    }
    default:
      throw new pulumi.RunError(`trading:mode in ${stackFile()} is ${mode}: set it to managed or to direct`);
  }
};

/**
 * Reads and checks the configuration of a pair's stack. Nothing has been registered when it
 * throws, so that a wrong configuration changes nothing.
 * @throws pulumi.RunError with every problem of the spec and the file to correct.
 */
export const readPairConfig = (): PairConfig => {
  const config = new pulumi.Config("trading");
  const written = writtenSpec(config);
  return {
    engine: engineName(),
    namespace: config.get("namespace") ?? "trading",
    operatorNamespace: config.get("operatorNamespace") ?? defaultOperatorNamespace,
    spec: checkedSpec(written),
    written,
    ...modeOf(config),
  };
};
