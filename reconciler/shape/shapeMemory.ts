import type { EngineKey, ShapeResult } from "./shapeResult.ts";
import type { StoredState } from "./stateStore.ts";

/** What the lane knows of engines without asking: it may all be lost, at the price of a read for each engine. */
export interface ShapeMemory {
  result(key: EngineKey): ShapeResult | undefined;
  /** Tells whether that is news. */
  keepResult(key: EngineKey, result: ShapeResult): boolean;
  state(key: EngineKey): StoredState | undefined;
  keepState(key: EngineKey, state: StoredState): void;
  /** The stored state may be another by now. */
  doubtState(key: EngineKey): void;
  forget(key: EngineKey): void;
}

export const createShapeMemory = (): ShapeMemory => {
  const results = new Map<EngineKey, ShapeResult>();
  const states = new Map<EngineKey, StoredState>();
  return {
    result: (key) => results.get(key),
    keepResult: (key, result) => {
      const news = JSON.stringify(results.get(key)) !== JSON.stringify(result);
      if (news) results.set(key, result);
      return news;
    },
    state: (key) => states.get(key),
    keepState: (key, state) => void states.set(key, state),
    doubtState: (key) => void states.delete(key),
    forget: (key) => {
      results.delete(key);
      states.delete(key);
    },
  };
};
