import Ajv, { type ValidateFunction } from "ajv";
import { LRUCache } from "lru-cache";

/** Compiled checks by their schema's text; a new Ajv for each, as one would remember every schema for ever. */
const checks = new LRUCache<string, ValidateFunction>({ max: 500 });

/** The check of a function's arguments; undefined when its parameters are no usable JSON Schema. */
export function argumentCheck(parameters: object): ValidateFunction | undefined {
  const key = JSON.stringify(parameters);
  try {
    const check =
      checks.get(key) ??
      new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(parameters);
    checks.set(key, check);
    return check;
  } catch {
    return undefined;
  }
}
