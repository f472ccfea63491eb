import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const repository = join(import.meta.dirname, "..", "..");
const dialect = "https://json-schema.org/draft/2020-12/schema";

type Node = Readonly<Record<string, unknown>>;

const methods = ["get", "post", "put", "delete"] as const;

/** docs/reference/engine-openapi.yaml, read as what it says. */
export class EngineOpenapi {
  readonly document: Node;

  private constructor(document: Node) {
    this.document = document;
  }

  static async read(): Promise<EngineOpenapi> {
    const text = await readFile(join(repository, "docs/reference/engine-openapi.yaml"), "utf8");
    return new EngineOpenapi(parse(text) as Node);
  }

  /** Every "METHOD /path". */
  get routes(): readonly string[] {
    const paths = this.document["paths"] as Record<string, Node>;
    return Object.entries(paths).flatMap(([path, item]) =>
      methods.filter((method) => method in item).map((method) => `${method.toUpperCase()} ${path}`),
    );
  }

  /** References that lead nowhere; empty in a sound document. */
  get lostReferences(): readonly string[] {
    const references = JSON.stringify(this.document).matchAll(/"\$ref":"#([^"]+)"/g);
    return [...new Set([...references].map(([, pointer]) => pointer ?? ""))].filter((pointer) => !this.#has(pointer));
  }

  /** What is wrong with a request's body; empty when the route takes it. */
  bodyFaults(route: string, body: unknown): readonly string[] {
    const pointer = this.#follow(`${this.#operation(route)}/requestBody`);
    return this.#faultsOf(`${pointer}/content/application~1json/schema`, body);
  }

  /** What is wrong with an answer: its status, its content type or its body. `body` is one line where lines are answered. */
  answerFaults(route: string, status: number, contentType: string, body: unknown): readonly string[] {
    const responses = `${this.#operation(route)}/responses`;
    const told = this.#at(responses);
    const key = String(status) in told ? String(status) : "default";
    if (!(key in told)) return [`${route} does not tell of status ${status}`];
    const response = this.#follow(`${responses}/${key}`);
    const media = contentType.split(";")[0] ?? "";
    if (!(media in (this.#at(response)["content"] as Node))) return [`${route} ${status} does not tell of ${media}`];
    return this.#faultsOf(`${response}/content/${escaped(media)}/schema`, body);
  }

  /** Codes that the schema `Problem` knows. */
  get refusalCodes(): readonly string[] {
    const { enum: codes } = this.#at("/components/schemas/Problem/properties/code");
    return codes as string[];
  }

  #faultsOf(pointer: string, value: unknown): readonly string[] {
    const schemas = { ...this.#at("/components/schemas"), looked: this.#at(pointer) };
    // JSON Schema keeps its definitions elsewhere than OpenAPI; a schema is the same in both.
    const text = JSON.stringify(schemas).replaceAll("#/components/schemas/", "#/$defs/");
    const $defs = JSON.parse(text) as Parameters<typeof z.fromJSONSchema>[0] & object;
    const { error } = z.fromJSONSchema({ $schema: dialect, $ref: "#/$defs/looked", $defs } as never).safeParse(value);
    return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
  }

  #has(pointer: string): boolean {
    try {
      return Object.keys(this.#at(pointer)).length > 0;
    } catch {
      return false;
    }
  }

  #operation(route: string): string {
    const [method = "", path = ""] = route.split(" ");
    return `/paths/${escaped(path)}/${method.toLowerCase()}`;
  }

  #at(pointer: string): Node {
    const keys = pointer
      .split("/")
      .slice(1)
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    let node: unknown = this.document;
    for (const key of keys) {
      node = (node as Node)[key];
      if (typeof node !== "object" || node === null) throw new Error(`engine-openapi.yaml has no ${pointer}`);
    }
    return node as Node;
  }

  #follow(pointer: string): string {
    const { $ref } = this.#at(pointer);
    return typeof $ref === "string" ? $ref.slice(1) : pointer;
  }
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
