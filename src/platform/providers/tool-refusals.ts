import { LRUCache } from "lru-cache";
import type { ToolRefusals } from "../ports/tool-refusals";

/** After this time, functions are offered again: the server of the model may have been changed. */
const MEMORY_MS = 3_600_000;
/** Models of customers may have any name. */
const MAX_MODELS = 1_000;

/** Remembers in this process which models refuse functions. @param clock monotonic time in milliseconds */
export function toolRefusals(clock: { now(): number } = performance): ToolRefusals {
  const known = new LRUCache<string, true>({
    max: MAX_MODELS,
    ttl: MEMORY_MS,
    ttlResolution: 0,
    perf: clock,
  });
  const keyOf: (request: Parameters<ToolRefusals["has"]>[0]) => string = ({ model, credential }) =>
    JSON.stringify([model.provider, model.model, model.baseUrl ?? credential?.baseUrl]);
  return {
    has: (request) => known.has(keyOf(request)),
    add: (request) => void known.set(keyOf(request), true),
  };
}
