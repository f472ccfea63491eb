import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { defaultOperatorNamespace } from "../operator.ts";

/** What the platform program installs, as plain data. */
export interface PlatformSettings {
  readonly operatorImage: string;
  readonly operatorNamespace: string;
  /** Namespaces that may hold engines; made by the platform program. */
  readonly namespaces: readonly string[];
}

/** Settings, and the secret that they come with. */
export interface PlatformConfig extends PlatformSettings {
  /** Encrypts the secrets in the states of the engines' stacks. */
  readonly passphrase: pulumi.Output<string>;
}

/** Environment variable that gives the passphrase where the stack's config has none. */
const passphraseVariable = "EK_STACK_PASSPHRASE";

const namespaceName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, "must be a namespace name: small letters, digits and hyphens");

const namespaceList = z
  .array(namespaceName)
  .min(1, "must name at least one namespace")
  .refine((names) => new Set(names).size === names.length, "names a namespace twice");

const namespacesOf = (config: pulumi.Config): readonly string[] => {
  const parsed = namespaceList.safeParse(config.getObject("namespaces") ?? ["trading"]);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim());
  throw new pulumi.RunError(
    `enginekeeper:namespaces in Pulumi.${pulumi.getStack()}.yaml is a list such as [trading]: ${problems.join("; ")}`,
  );
};

const operatorImageOf = (config: pulumi.Config): string => {
  const image = config.get("operatorImage");
  if (image !== undefined && image !== "") return image;
  throw new pulumi.RunError(
    "The image of the daemon is not known. Set it: pulumi config set operatorImage registry.example.com/enginekeeper/operator@sha256:...",
  );
};

const passphraseOf = (config: pulumi.Config, environment: Readonly<NodeJS.ProcessEnv>): pulumi.Output<string> => {
  const configured = config.getSecret("passphrase");
  if (configured !== undefined) return configured;
  const given = environment[passphraseVariable];
  if (given !== undefined && given !== "") return pulumi.secret(given);
  throw new pulumi.RunError(
    `The passphrase that encrypts the states of the engines is not known. Set it once and keep it, since states cannot be read without it: pulumi config set --secret passphrase "$(openssl rand -base64 32)" (or give it as ${passphraseVariable})`,
  );
};

/**
 * Reads the configuration of the platform's stack.
 * @throws pulumi.RunError, with what to do, for a value that is missing or wrong.
 */
export const readPlatformConfig = (environment: Readonly<NodeJS.ProcessEnv>): PlatformConfig => {
  const config = new pulumi.Config();
  const operatorNamespace = config.get("operatorNamespace") ?? defaultOperatorNamespace;
  const namespaces = namespacesOf(config);
  if (namespaces.includes(operatorNamespace)) {
    throw new pulumi.RunError(
      `enginekeeper:namespaces names ${operatorNamespace}, the daemon's own namespace: keep engines in another one`,
    );
  }
  return {
    operatorImage: operatorImageOf(config),
    operatorNamespace,
    namespaces,
    passphrase: passphraseOf(config, environment),
  };
};
