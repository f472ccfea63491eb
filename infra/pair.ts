/**
 * The pair program: one trading pair per stack, named after its engine. Configuration:
 *
 * - trading:engine              the spec of the TradingEngine, as in its reference
 * - trading:namespace           namespace of the engine; default trading
 * - trading:mode                managed (default): the daemon keeps the engine. direct: this stack builds it
 * - trading:operatorNamespace   namespace of the daemon; default enginekeeper-system
 *
 * and in mode direct:
 *
 * - trading:controlToken        secret; by it the replicas are controlled
 * - trading:retain              default true: what leaves the program stays in the cluster, so that setting
 *                               mode to managed hands the running engine to the daemon. Set it to false and
 *                               run `pulumi up` before `pulumi destroy` to delete the engine for good
 */
import { managedEngine } from "./managedEngine.ts";
import { type PairConfig, readPairConfig } from "./pairConfig.ts";
import { TradingEngine } from "./tradingEngine.ts";

const built = (pair: PairConfig) => {
  switch (pair.mode) {
    case "managed":
      return managedEngine(pair);
    case "direct": {
      const { endpoint } = new TradingEngine(
        pair.engine,
        {
          namespace: pair.namespace,
          engine: pair.engine,
          spec: pair.spec,
          controlToken: pair.controlToken,
          operatorNamespace: pair.operatorNamespace,
        },
        { retainOnDelete: pair.retain },
      );
      // Who leads is between the replicas and whoever promotes them; this stack cannot know.
      return { endpoint, primary: null, epoch: null };
    }
  }
};

const { endpoint, primary, epoch } = built(readPairConfig());

export { endpoint, epoch, primary };
