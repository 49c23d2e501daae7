import Ajv, { type ErrorObject, type ValidateFunction } from "ajv";
import { LRUCache } from "lru-cache";
import type { CheckAnswer, CheckQuestion } from "../ports/argument-checker";
import { LinearPattern, UnsupportedPattern } from "./linear-pattern";

/** Most instructions of all patterns of one schema. */
const MOST_INSTRUCTIONS = 10_000;
/** Errors of one check that are told. */
const MOST_ERRORS = 10;
const MOST_ERROR_CHARACTERS = 300;

const options = { strict: false, logger: false, validateFormats: false } as const;
/** Says whether a schema is a schema. */
const meta = new Ajv(options);
/** Compiled checks by their schema's text. */
const checks = new LRUCache<string, ValidateFunction>({ max: 200 });

/** Checks arguments by a schema; without arguments, whether the schema can be used. */
export function checkArguments({ schema, args }: CheckQuestion): CheckAnswer {
  let check: ValidateFunction;
  try {
    check = checks.get(schema) ?? compile(JSON.parse(schema) as object); // an object's text
    checks.set(schema, check);
  } catch (error) {
    return { unusable: error instanceof UnsupportedPattern ? error.message : "are not a JSON Schema" };
  }
  try {
    // Without arguments it is tried on none: some schemas take exponential time, or never end, on anything.
    const fits = check(args === undefined ? {} : JSON.parse(args));
    return fits || args === undefined ? {} : { wrong: told(check.errors ?? []) };
  } catch {
    return args === undefined
      ? { unusable: "refer to themselves without end" }
      : { wrong: "they nest too deeply" };
  }
}

/** @throws UnsupportedPattern, or what Ajv throws of what is no schema; a new Ajv for each, as one would remember every schema for ever */
function compile(schema: object): ValidateFunction {
  if (meta.validateSchema(schema) !== true) throw new Error("No JSON Schema.");
  const check = new Ajv({
    ...options,
    allErrors: true,
    validateSchema: false,
    code: { regExp: linearPatterns() },
  }).compile(schema);
  if ("$async" in check) throw new Error("An asynchronous schema.");
  return check;
}

/** What Ajv makes regular expressions with. */
function linearPatterns() {
  let left = MOST_INSTRUCTIONS;
  const make = (pattern: string) => {
    try {
      const made = new LinearPattern(pattern);
      left -= made.size;
      if (left < 0) throw new UnsupportedPattern("is one too many: together they are too large");
      return made;
    } catch (error) {
      if (!(error instanceof UnsupportedPattern)) throw error;
      throw new UnsupportedPattern(`hold the pattern "${shortened(pattern)}", which ${error.message}`);
    }
  };
  return Object.assign(make, { code: "linearPattern" });
}

const shortened = (text: string): string =>
  (text.length > 60 ? `${text.slice(0, 60)}…` : text).toWellFormed();

const told = (errors: readonly ErrorObject[]): string =>
  errors
    .slice(0, MOST_ERRORS)
    .map(({ instancePath, message }) =>
      `${instancePath || "arguments"} ${message}`.slice(0, MOST_ERROR_CHARACTERS),
    )
    .join("; ")
    .toWellFormed();
