/**
 * The files that are made from the schemas and kept in the repository for people and
 * tools that do not run our code.
 */
import { stringify } from "yaml";
import { tradingEngineCrd } from "../crd/index.ts";
import { referencePage } from "./reference.ts";

export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly content: string;
}

const yamlHeader = "# Generated from the schema in api/ by `npm run generate`. Do not edit.\n";

export const generatedFiles = (): readonly GeneratedFile[] => {
  const crd = tradingEngineCrd();
  return [
    {
      path: "api/generated/tradingengines.crd.yaml",
      content: yamlHeader + stringify(crd, { lineWidth: 0, aliasDuplicateObjects: false }),
    },
    { path: "docs/reference/tradingengine.md", content: referencePage(crd) },
  ];
};
