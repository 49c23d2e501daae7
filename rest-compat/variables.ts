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
  isRequiredInputField,
  type GraphQLError,
  type GraphQLInputObjectType,
} from "graphql";
import { problemsOf, ruleOf } from "../schema/core/rules";
import { invalid, type Problem } from "../src/platform/errors";
import { nearest } from "../src/platform/nearest";
import type { CompiledRoute, Operation, Variable } from "./compile";
import { expectationOf, kindOf, placeAt, placeIn, placeOf, unexpected, type Place } from "./expectations";

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
  route: CompiledRoute,
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
      found.push(explain(variable, root, { path, sent }, error));
      if (found.length >= MAX_PROBLEMS) throw invalid([...problems, ...found]);
    });
    const strictProblems = stricterProblems(placeOf(variable), raw, root);
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

/** The body without fields that the route ignores: read-only ones in a PATCH, and with `lenient` all others. */
function bodyOf(
  { method, setters, hints }: CompiledRoute,
  { input, bodyFields, readOnly }: Operation,
  body: unknown,
  lenient: boolean,
  problems: Problem[],
): unknown {
  if (body === undefined) return {};
  if (!input || typeof body !== "object" || body === null || Array.isArray(body)) {
    problems.push({ path: "", message: `the body must be a JSON object; got ${kindOf(body)}` });
    return undefined;
  }
  const entries = Object.entries(body);
  const accepted = entries.filter(([name]) => bodyFields.includes(name));
  // Without a field that can be changed, a body is refused for its missing one, and the others are part of the reason.
  const isEcho = method === "patch" && (accepted.length > 0 || !hasRequiredField(input));
  for (const [name] of lenient ? [] : entries) {
    const advice = readOnly.get(name);
    if (bodyFields.includes(name) || (isEcho && advice !== undefined)) continue;
    const message =
      advice === undefined ? unknownField(name, bodyFields, setters, hints) : `is read-only: ${advice}`;
    problems.push({ path: name, message });
    if (problems.length >= MAX_PROBLEMS) throw invalid(problems);
  }
  return Object.fromEntries(accepted);
}

const hasRequiredField = (input: GraphQLInputObjectType): boolean =>
  Object.values(input.getFields()).some(isRequiredInputField);

function unknownField(
  name: string,
  known: readonly string[],
  setters?: ReadonlyMap<string, string>,
  hints: CompiledRoute["hints"] = {},
): string {
  if (Object.hasOwn(hints, name)) return `is not a field of this request: ${hints[name]}`;
  const setter = setters?.get(name);
  if (setter !== undefined) return `is not a field of this request. Set it with ${setter}`;
  const meant = nearest(name, known);
  return meant === undefined ? "is not a known field" : `is not a known field. Did you mean "${meant}"?`;
}

/**
 * Problems with values that GraphQL coerces but the documented API refuses: a number as an id, and a single value as
 * a list.
 */
function stricterProblems(place: Place, raw: unknown, path: string): Problem[] {
  const bare = getNullableType(place.type);
  if (bare === GraphQLID)
    return typeof raw === "number" ? [{ path, message: `${expectationOf(place)}; got a number` }] : [];
  if (isListType(bare))
    return raw == null || Array.isArray(raw) ? [] : [{ path, message: `must be a list; got ${kindOf(raw)}` }];
  if (!isInputObjectType(bare) || typeof raw !== "object" || raw === null) return [];
  return Object.values(bare.getFields()).flatMap((field) =>
    stricterProblems(
      placeIn(bare, field),
      (raw as Record<string, unknown>)[field.name],
      path ? `${path}.${field.name}` : field.name,
    ),
  );
}

/** Describes an invalid value in terms of JSON instead of GraphQL. */
function explain(
  variable: Variable,
  root: string,
  { path, sent }: { readonly path: readonly (string | number)[]; readonly sent: unknown },
  { message }: GraphQLError,
): Problem {
  const place = placeAt(placeOf(variable), path);
  const at = [...(root ? [root] : []), ...path];
  const [, missing] = /^Field "(.+?)" of required type/.exec(message) ?? [];
  if (missing !== undefined) {
    const { type } = placeAt(place, [missing]);
    const values = isEnumType(type)
      ? `: ${type
          .getValues()
          .map(({ name }) => name)
          .join(" or ")}`
      : "";
    return { path: [...at, missing].join("."), message: `is required${values}` };
  }
  const [, unknown] = /^Field "(.+?)" is not defined by type/.exec(message) ?? [];
  if (unknown !== undefined) {
    const known = isInputObjectType(place.type) ? Object.keys(place.type.getFields()) : [];
    return { path: [...at, unknown].join("."), message: unknownField(unknown, known) };
  }
  const isNull = /not to be null/.test(message);
  return { path: at.join("."), message: isNull ? "must not be null" : unexpected(place, message, sent) };
}
