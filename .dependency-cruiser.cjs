/**
 * Which folder may import which: the architecture in two tables. Whatever between folders is
 * not listed is an error.
 */
const folders = {
  api: [],
  infra: ["api"],
  reconciler: ["api", "infra"],
  engine: [],
  client: ["engine"],
  local: ["api"],
};

/** Inside the reconciler; main.ts wires them and may import all. */
const insideReconciler = {
  kube: [],
  contract: [],
  decide: [],
  tradingEngine: ["kube"],
  observe: ["kube", "contract", "decide", "tradingEngine"],
  act: ["kube", "contract", "decide", "observe", "tradingEngine"],
  shape: ["kube", "tradingEngine"],
  status: ["kube", "decide", "observe", "shape", "tradingEngine"],
  metrics: ["kube"],
  role: ["kube", "contract", "decide", "observe", "act", "status", "metrics"],
  health: ["kube"],
};

const group = (names) => (names.length === 0 ? "$^" : `(${names.join("|")})`);

const folderRules = Object.entries(folders).map(([folder, targets]) => ({
  name: `${folder} imports only what the architecture allows`,
  severity: "error",
  from: { path: `^${folder}/` },
  to: { path: `^${group(Object.keys(folders))}/`, pathNot: `^${group([folder, ...targets])}/` },
}));

/** A type says what a snapshot looks like and can do nothing: decisions may import types from anywhere. */
const beyondTypes = { dependencyTypesNot: ["type-only"] };

const reconcilerRules = Object.entries(insideReconciler).map(([folder, targets]) => ({
  name: `reconciler/${folder} imports only what the architecture allows`,
  severity: "error",
  from: { path: `^reconciler/${folder}/`, pathNot: "\\.test\\.ts$" },
  to: {
    path: `^reconciler/${group(Object.keys(insideReconciler))}/`,
    pathNot: `^reconciler/${group([folder, ...targets])}/`,
    ...(folder === "decide" ? beyondTypes : {}),
  },
}));

module.exports = {
  forbidden: [
    ...folderRules,
    ...reconcilerRules,
    {
      name: "the order client shares the engine's words, wire format and decimals, and nothing else",
      severity: "error",
      from: { path: "^client/", pathNot: "\\.test\\.ts$" },
      to: {
        path: "^engine/",
        pathNot: "^engine/(orders/stream/(protocol|frameReader|frameWriter)|exchange/tradingRules|book/terms)\\.ts$",
      },
    },
    {
      name: "decisions do no input or output",
      severity: "error",
      from: { path: "^reconciler/decide/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["core", "npm"] },
    },
    { name: "no cycles", severity: "error", from: {}, to: { circular: true, viaOnly: beyondTypes } },
    {
      name: "product code imports no test code",
      severity: "error",
      from: { pathNot: "(\\.test\\.ts$|^tests/|/testing/)" },
      to: { path: "(\\.test\\.ts$|^tests/|/testing/)" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      extensions: [".ts", ".js"],
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "types"],
    },
  },
};
