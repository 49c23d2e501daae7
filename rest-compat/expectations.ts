import {
  getNullableType,
  GRAPHQL_MAX_INT,
  GRAPHQL_MIN_INT,
  isEnumType,
  isInputObjectType,
  isListType,
  isScalarType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from "graphql";
import {
  DATE_TIME_EXPECTED,
  itemRule,
  OBJECT_EXPECTED,
  ruleOf,
  valuesInRequests,
  type InputRule,
} from "../schema/core/rules";
import { quoted } from "../src/platform/errors";
import type { Variable } from "./compile";
import { exampleOf } from "./examples";

/** A place for a value in a request. */
export interface Place {
  readonly type: GraphQLInputType;
  readonly rule: InputRule;
  /** Example of a value; undefined if there is none. */
  readonly example: unknown;
}

export const placeOf = ({ name, type, argument }: Variable): Place => ({
  type,
  rule: ruleOf(argument),
  example: exampleOf("", name),
});

export const placeIn = (type: GraphQLInputObjectType, field: GraphQLInputField): Place => ({
  type: field.type,
  rule: ruleOf(field),
  example: exampleOf(type.name, field.name),
});

/** The place inside another one. Its type is not `NonNull`. */
export function placeAt(place: Place, [step, ...rest]: readonly (string | number)[]): Place {
  const type = getNullableType(place.type);
  const { example, rule } = place;
  if (step === undefined) return { ...place, type };
  if (isListType(type)) {
    const item = Array.isArray(example) ? (example[0] as unknown) : undefined;
    return placeAt({ type: type.ofType, rule: itemRule(rule), example: item }, rest);
  }
  return isInputObjectType(type) ? placeAt(placeIn(type, type.getFields()[step]!), rest) : { ...place, type };
}

/** Longest example in a message, in characters. */
const MAX_EXAMPLE = 40;

function suchAs(example: unknown): string {
  const text = example === undefined ? "" : JSON.stringify(example);
  return text === "" || text.length > MAX_EXAMPLE ? "" : ` such as ${text}`;
}

function inRange({ minimum, maximum }: InputRule): string {
  if (minimum === undefined) return "";
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

/** The range of an Int, which is a signed number of 32 bits. */
const inIntRange = ({ minimum = GRAPHQL_MIN_INT, maximum = GRAPHQL_MAX_INT }: InputRule): string =>
  inRange({ minimum, maximum });

/** The requirement on a value at a place, for a message; undefined if the scalar's own message states it. */
export function expectationOf({ type, rule, example }: Place): string | undefined {
  const bare = getNullableType(type);
  if (isEnumType(bare)) return `must be one of ${valuesInRequests(bare).join(", ")}`;
  if (isInputObjectType(bare)) return "must be an object";
  if (!isScalarType(bare)) return undefined;
  if (bare.name === "ID") return `must be a string${suchAs(example ?? exampleOf("", "id"))}`;
  if (bare.name === "String") return `must be a string${suchAs(example)}`;
  if (bare.name === "Int") return `must be a whole number${inIntRange(rule)}`;
  const range = inRange(rule);
  if (bare.name === "Float") return range ? `must be a number${range}` : "must be a finite number";
  if (bare.name === "Boolean") return "must be true or false";
  return bare.name === "DateTime" ? DATE_TIME_EXPECTED : undefined;
}

/** Says what the value at a place must be, and what was sent. @param message the scalar's own */
export function unexpected(place: Place, message: string, sent: unknown): string {
  const own = message.replace(/^Expected type ".+?"\. /, "");
  if (own === OBJECT_EXPECTED) return `${own}${suchAs(place.example)}; got ${kindOf(sent)}`;
  const expected = expectationOf(place);
  return expected === undefined ? own : `${expected}; got ${shown(getNullableType(place.type), sent)}`;
}

function shown(type: GraphQLInputType, sent: unknown): string {
  const isText = isScalarType(type) && (type.name === "String" || type.name === "ID"); // may be a secret
  if (typeof sent === "string" && !isText) return quoted(sent);
  return typeof sent === "number" && !isText ? String(sent) : kindOf(sent);
}

/** The kind of a JSON value, in words. */
export function kindOf(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
