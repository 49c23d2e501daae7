import Ajv, { type ErrorObject, type ValidateFunction } from "ajv";
import { LRUCache } from "lru-cache";
import type { CheckAnswer, CheckQuestion } from "../ports/argument-checker";
import { LinearPattern, UnsupportedPattern } from "./linear-pattern";

/** Upper limit for the compiled instructions of all patterns of one schema. */
const MAX_INSTRUCTIONS = 10_000;
/** Errors reported for one check. */
const MAX_ERRORS = 10;
const MAX_ERROR_CHARACTERS = 300;

const MAX_CACHED_SCHEMAS = 200;
const options = { strict: false, logger: false, validateFormats: false } as const;
/** Validates schemas themselves. */
const meta = new Ajv(options);
/** Compiled schemas by their JSON text. */
const checks = new LRUCache<string, ValidateFunction>({ max: MAX_CACHED_SCHEMAS });

/** Checks arguments against a schema; without arguments, checks whether the schema can be used. Never throws. */
export function checkArguments({ schema, args }: CheckQuestion): CheckAnswer {
  let check: ValidateFunction;
  try {
    check = checks.get(schema) ?? compile(JSON.parse(schema) as object); // made from an object by the caller
    checks.set(schema, check);
  } catch (error) {
    return { unusable: error instanceof UnsupportedPattern ? error.message : "are not a JSON Schema" };
  }
  try {
    // Without arguments the schema is tried on an empty object: some schemas take exponential time or never end on any value.
    const fits = check(args === undefined ? {} : JSON.parse(args));
    return fits || args === undefined ? {} : { wrong: describeErrors(check.errors ?? []) };
  } catch {
    return args === undefined
      ? { unusable: "refer to themselves without end" }
      : { wrong: "they nest too deeply" };
  }
}

/**
 * Compiles a schema. Each gets a new Ajv, because an Ajv instance caches all of its schemas forever.
 * @throws UnsupportedPattern, or any other Error if `schema` is not a JSON Schema
 */
function compile(schema: object): ValidateFunction {
  if (meta.validateSchema(schema) !== true) throw new Error("Not a JSON Schema.");
  const check = new Ajv({
    ...options,
    allErrors: true,
    validateSchema: false,
    code: { regExp: linearPatterns() },
  }).compile(schema);
  if ("$async" in check) throw new Error("Asynchronous schemas are not supported.");
  return check;
}

/** Makes regular expressions for Ajv, with one instruction limit for the whole schema. */
function linearPatterns() {
  let left = MAX_INSTRUCTIONS;
  const make = (pattern: string) => {
    try {
      const compiled = new LinearPattern(pattern);
      left -= compiled.size;
      if (left < 0) throw new UnsupportedPattern("is one too many: all patterns together are too large");
      return compiled;
    } catch (error) {
      if (!(error instanceof UnsupportedPattern)) throw error;
      throw new UnsupportedPattern(`contain the pattern "${shorten(pattern)}", which ${error.message}`);
    }
  };
  return Object.assign(make, { code: "linearPattern" });
}

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text).toWellFormed();

const describeErrors = (errors: readonly ErrorObject[]): string =>
  errors
    .slice(0, MAX_ERRORS)
    .map(({ instancePath, message }) =>
      `${instancePath || "arguments"} ${message}`.slice(0, MAX_ERROR_CHARACTERS),
    )
    .join("; ")
    .toWellFormed();
