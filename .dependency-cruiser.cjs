/**
 * Which folder may import which. The architecture in one table: a folder's imports
 * point only at what is listed for it; everything else between folders is an error.
 */
const allowed = {
  api: [],
  infra: ["api"],
  reconciler: ["api", "infra"],
  engine: [],
  local: ["api"],
  test: ["api", "infra", "reconciler", "engine", "local"],
};

/** Inside the reconciler: main -> act, decide, observe, shape, status, metrics -> kube. */
const insideReconciler = {
  kube: [],
  contract: [],
  observe: ["kube", "contract"],
  decide: [],
  act: ["kube", "contract", "decide", "observe"],
  shape: ["kube"],
  status: ["kube", "decide", "observe"],
  metrics: ["kube"],
};

const folders = Object.keys(allowed);

module.exports = {};
