import { PLACEHOLDER } from "../../assistants/configurations/variable-names";
import type { JsonObject } from "../../platform/json/json-object";
type Values = Readonly<Record<string, unknown>> | null;

/**
 * Replaces each `{name}` with the value of the first source that has the name. Unknown names stay as written. Placeholders inside values are not replaced.
 */
export function fill(text: string, sources: readonly Values[]): string {
  return text.replace(PLACEHOLDER, (placeholder, name: string) => {
    const source = sources.find((values) => values !== null && Object.hasOwn(values, name));
    return source ? toText(source[name]) : placeholder;
  });
}

/** Replaces placeholders in every string of a value, but not in keys. */
export const fillDeep = (value: unknown, sources: readonly Values[]): unknown =>
  changeDeep(value, (text) => fill(text, sources));

type Change = (text: string) => string;

function changeDeep(value: unknown, change: Change): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => changeDeep(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, changeDeep(item, change)]));
}

/** JSON Schema keywords whose values are filled in. All other keywords are structure. */
const FILLED = ["description", "title", "default", "const", "enum", "examples"];
/** JSON Schema keywords whose value is a schema or a list of schemas; and those whose value is an object of schemas. */
const SCHEMAS = [
  ...["items", "prefixItems", "additionalItems", "contains", "unevaluatedItems", "propertyNames", "not"],
  ...["additionalProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "if", "then", "else"],
];
const NAMED_SCHEMAS = [
  ...["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"],
];

/** Fills variables into the parameters of a function where they cannot change the structure of the schema. */
export const fillSchema = (parameters: JsonObject, sources: readonly Values[]): JsonObject =>
  changeSchemaPart(parameters, (text) => fill(text, sources), ["description"]);

/** The texts in the parameters of a function that variables are filled into. */
export function textsOfSchema(parameters: JsonObject): string[] {
  const texts: string[] = [];
  const collect: Change = (text) => (texts.push(text), text);
  changeSchemaPart(parameters, collect, ["description"]);
  return texts;
}

function changeSchemaPart(schema: JsonObject, change: Change, filled: readonly string[]): JsonObject {
  const inner = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(inner)
      : isObject(value)
        ? changeSchemaPart(value, change, FILLED)
        : value;
  const named = (value: unknown) => (isObject(value) ? mapEntries(value, (_, one) => inner(one)) : value);
  return mapEntries(schema, (key, value) => {
    if (filled.includes(key)) return changeDeep(value, change);
    if (SCHEMAS.includes(key)) return inner(value);
    return NAMED_SCHEMAS.includes(key) ? named(value) : value;
  });
}

const mapEntries = (value: JsonObject, change: (key: string, value: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(key, one)]));

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const toText = (value: unknown): string =>
  typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
