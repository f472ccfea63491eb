/**
 * Runs a Pulumi program without engine or cluster, and tells which resources it registered.
 */
import * as pulumi from "@pulumi/pulumi";

/** One resource as the program registered it. */
export interface Registered {
  readonly type: string;
  readonly name: string;
  /** Name of the component that it belongs to; undefined at the top of the stack. */
  readonly parent: string | undefined;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly options: pulumi.CustomResourceOptions;
}

/** What a mocked program runs as. */
export interface MockedStack {
  readonly project?: string;
  readonly stack?: string;
  /** Full keys, such as trading:mode. Values are text, objects as JSON. */
  readonly config?: Readonly<Record<string, string>>;
  /** Keys of `config` that are secret. */
  readonly secretKeys?: readonly string[];
  /** What the cluster adds to a resource, by its name: live status and the like. */
  readonly live?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const nameOf = (resource: pulumi.Resource | undefined): string | undefined =>
  resource === undefined ? undefined : (resource as unknown as { readonly __name?: string }).__name;

/** The value that an output gets, secrets laid open. */
export const valueOf = <T>(output: pulumi.Input<T>): Promise<pulumi.Unwrap<T>> =>
  new Promise((resolve) => {
    pulumi.output(output).apply(resolve);
  });

/**
 * Runs `program` and waits until everything that it registered has been answered.
 * @returns the outputs of the stack, and the resources in the order of registration.
 * @throws what the program throws.
 */
export const runMocked = async (
  program: () => Record<string, unknown> | Promise<Record<string, unknown>>,
  { project = "enginekeeper", stack = "test", config = {}, secretKeys = [], live = {} }: MockedStack = {},
): Promise<{ readonly outputs: unknown; readonly resources: readonly Registered[] }> => {
  const options = new Map<string, pulumi.CustomResourceOptions>();
  const resources: Registered[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, id, ...resource }) => {
        const found = options.get(`${type} ${name}`) ?? {};
        const inputs = resource.inputs as Registered["inputs"];
        resources.push({ type, name, parent: nameOf(found.parent), inputs, options: found });
        return { id: id ?? `${name}-id`, state: { ...inputs, ...live[name] } };
      },
      call: () => ({}),
    },
    project,
    stack,
  );
  pulumi.runtime.setAllConfig({ ...config }, [...secretKeys]);
  const failures: unknown[] = [];
  const outputs = await pulumi.runtime.runInPulumiStack(async () => {
    pulumi.runtime.registerStackTransformation(({ type, name, opts }) => {
      options.set(`${type} ${name}`, opts);
      return undefined;
    });
    try {
      return await program();
    } catch (error) {
      // Thrown here it would also come up as a rejection of the stack's outputs, which nobody awaits.
      failures.push(error);
      return {};
    }
  });
  await pulumi.runtime.disconnect();
  const [failure] = failures;
  if (failure !== undefined) throw failure as Error;
  return { outputs: await valueOf(outputs), resources };
};

/** The only resource of this type and name. */
export const only = (resources: readonly Registered[], type: string, name: string): Registered => {
  const found = resources.filter((resource) => resource.type === type && resource.name === name);
  const [first, ...rest] = found;
  if (first === undefined || rest.length > 0) {
    const all = resources.map((resource) => `${resource.type} ${resource.name}`).join("\n");
    throw new Error(`${found.length} resources are ${type} ${name}; registered:\n${all}`);
  }
  return first;
};
