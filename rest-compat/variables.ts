import {
  coerceInputValue,
  getNamedType,
  getNullableType,
  GraphQLBoolean,
  GraphQLID,
  GraphQLInt,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  type GraphQLError,
  type GraphQLInputType,
} from "graphql";
import { problemsOf, ruleOf } from "../schema/core/rules";
import { invalid, quoted, type Problem } from "../src/platform/errors";
import type { Operation, Variable } from "./compile";
import type { Route } from "./route";

/** Maximum number of reported problems: listing a million invalid values would block other requests. */
const MAX_PROBLEMS = 50;

/** The unparsed inputs of a request. */
export interface Inputs {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON body; undefined without one. */
  readonly body?: unknown;
  /** The parts of a multipart body. */
  readonly form?: Readonly<Record<string, unknown>>;
}

/**
 * Reads and coerces the variables of a route's document.
 * @param lenient ignores unknown fields of the body instead of refusing them
 * @throws BAD_USER_INPUT listing the invalid values by path
 */
export function readVariables(
  route: Route,
  operation: Operation,
  inputs: Inputs,
  lenient: boolean,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const variable of operation.variables) {
    const { name, type, from } = variable;
    const raw =
      from === "body"
        ? bodyOf(route, operation, inputs.body, lenient, problems)
        : rawValue(variable, inputs, problems);
    if (raw === undefined) {
      if (isNonNullType(type) && problems.length === 0) problems.push({ path: name, message: "is required" });
      continue;
    }
    const root = from === "body" ? "" : name;
    const found: Problem[] = [];
    const value = coerceInputValue(raw, type, (path, sent, error) => {
      found.push(explain(type, root, { path, sent }, error));
      if (found.length >= MAX_PROBLEMS) throw invalid([...problems, ...found]);
    });
    const strictProblems = stricterProblems(type, raw, root);
    const typeProblems = [...found.filter(elsewhere(strictProblems)), ...strictProblems];
    const ruleProblems = problemsOf(type, value, root, ruleOf(variable.argument));
    problems.push(...typeProblems, ...ruleProblems.filter(elsewhere(typeProblems)));
    values[name] = value;
  }
  if (problems.length > 0) throw invalid(problems);
  return values;
}

/** Filters out problems at paths that already have one: one message per value is enough. */
const elsewhere =
  (others: readonly Problem[]) =>
  ({ path }: Problem): boolean =>
    others.every((other) => other.path !== path);

function rawValue(
  { name, type, from }: Variable,
  { params, query, form }: Inputs,
  problems: Problem[],
): unknown {
  if (from === "path") return params[name];
  if (from === "form") return form?.[name];
  const [text, ...more] = query.getAll(name);
  if (more.length > 0) problems.push({ path: name, message: "must be given once" });
  if (text === undefined) return undefined;
  const leaf = getNamedType(type);
  if (leaf === GraphQLBoolean && /^(true|false)$/.test(text)) return text === "true";
  // Digits only: JavaScript would also read "1e2", " 5" and "" as numbers.
  return leaf === GraphQLInt && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

/** The body without response fields that a PATCH may send back. */
function bodyOf(
  { omit = [] }: Route,
  { input, echoed }: Operation,
  body: unknown,
  lenient: boolean,
  problems: Problem[],
): unknown {
  if (body === undefined) return {};
  if (!input || typeof body !== "object" || body === null || Array.isArray(body)) {
    problems.push({ path: "", message: `the body must be a JSON object; got ${kindOf(body)}` });
    return undefined;
  }
  const known = (name: string) => Object.hasOwn(input.getFields(), name) && !omit.includes(name);
  const entries = Object.entries(body).filter(([name]) => known(name) || !(lenient || echoed.has(name)));
  for (const [name] of entries)
    if (omit.includes(name)) problems.push({ path: name, message: "is not a known field" });
  return Object.fromEntries(entries.filter(([name]) => !omit.includes(name)));
}

/**
 * Problems with values that GraphQL coerces but the documented API refuses: a number as an id, and a single value as
 * a list.
 */
function stricterProblems(type: GraphQLInputType, raw: unknown, path: string): Problem[] {
  const bare = getNullableType(type);
  if (bare === GraphQLID)
    return typeof raw === "number" ? [{ path, message: "must be a string; got a number" }] : [];
  if (isListType(bare))
    return raw == null || Array.isArray(raw) ? [] : [{ path, message: `must be a list; got ${kindOf(raw)}` }];
  if (!isInputObjectType(bare) || typeof raw !== "object" || raw === null) return [];
  return Object.values(bare.getFields()).flatMap((field) =>
    stricterProblems(
      field.type,
      (raw as Record<string, unknown>)[field.name],
      path ? `${path}.${field.name}` : field.name,
    ),
  );
}

/** Describes an invalid value in terms of JSON instead of GraphQL. */
function explain(
  type: GraphQLInputType,
  root: string,
  { path, sent }: { readonly path: readonly (string | number)[]; readonly sent: unknown },
  { message }: GraphQLError,
): Problem {
  const at = [...(root ? [root] : []), ...path];
  const [, missing] = /^Field "(.+?)" of required type/.exec(message) ?? [];
  if (missing !== undefined) return { path: [...at, missing].join("."), message: "is required" };
  const [, unknown, meant = ""] =
    /^Field "(.+?)" is not defined by type .+?(\. Did you mean .+)?\.?$/s.exec(message) ?? [];
  if (unknown !== undefined)
    return { path: [...at, unknown].join("."), message: `is not a known field${meant}` };
  return { path: at.join("."), message: expectation(typeAt(type, path), message, sent) };
}

function expectation(type: GraphQLInputType, message: string, sent: unknown): string {
  if (/not to be null/.test(message)) return "must not be null";
  if (isEnumType(type))
    return `must be one of ${type
      .getValues()
      .map(({ name }) => name)
      .join(", ")}; got ${typeof sent === "string" ? quoted(sent) : kindOf(sent)}`;
  if (isInputObjectType(type)) return `must be an object; got ${kindOf(sent)}`;
  if (isScalarType(type) && type.name in PLAIN) {
    const isText = type.name === "String" || type.name === "ID"; // may be a secret
    return `${PLAIN[type.name]}; got ${!isText && typeof sent === "string" ? quoted(sent) : kindOf(sent)}`;
  }
  return message.replace(/^Expected type ".+?"\. /, "");
}

/** The kind of a JSON value, in words. */
function kindOf(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

const PLAIN: Readonly<Record<string, string>> = {
  String: "must be a string",
  ID: "must be a string",
  Int: "must be a whole number of at most 32 bits",
  Float: "must be a finite number",
  Boolean: "must be true or false",
};

function typeAt(type: GraphQLInputType, [step, ...rest]: readonly (string | number)[]): GraphQLInputType {
  const bare = getNullableType(type);
  if (step === undefined) return bare;
  if (isListType(bare)) return typeAt(bare.ofType, rest);
  if (isInputObjectType(bare)) return typeAt(bare.getFields()[step]!.type, rest);
  return bare;
}
