import type { JsonObject } from "../../platform/json/json-object";
type Values = Readonly<Record<string, unknown>> | null;

const PLACE = /\{([A-Za-z_][A-Za-z0-9_.]*)\}/g;

/**
 * Fills in `{name}`; a name begins with a letter or `_`. The first of `sources` that has the name decides; a name that
 * none has stays as written, and a value is inserted once: places inside it are not filled again.
 */
export function fill(text: string, sources: readonly Values[]): string {
  return text.replace(PLACE, (place, name: string) => {
    const source = sources.find((values) => values !== null && Object.hasOwn(values, name));
    return source ? shown(source[name]) : place;
  });
}

/** The same in every string of a value, keys excepted. */
export function fillDeep(value: unknown, sources: readonly Values[]): unknown {
  if (typeof value === "string") return fill(value, sources);
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, sources));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillDeep(item, sources)]));
}

/** Keywords of a JSON Schema under which a property's values are filled in; all others are structure. */
const FILLED = ["description", "title", "default", "const", "enum", "examples"];
/** Keywords that hold a schema or a list of them, and those that hold schemas by names of the author's choice. */
const SCHEMAS = [
  ...["items", "prefixItems", "additionalItems", "contains", "unevaluatedItems", "propertyNames", "not"],
  ...["additionalProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "if", "then", "else"],
];
const NAMED_SCHEMAS = [
  ...["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"],
];

/** The parameters of a function with variables filled in where they cannot change what the schema means. */
export const fillSchema = (parameters: JsonObject, sources: readonly Values[]): JsonObject =>
  filledSchema(parameters, sources, ["description"]);

function filledSchema(schema: JsonObject, sources: readonly Values[], filled: readonly string[]): JsonObject {
  const inner = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(inner) : isObject(value) ? filledSchema(value, sources, FILLED) : value;
  const named = (value: unknown) => (isObject(value) ? mapped(value, (_, one) => inner(one)) : value);
  return mapped(schema, (key, value) => {
    if (filled.includes(key)) return fillDeep(value, sources);
    if (SCHEMAS.includes(key)) return inner(value);
    return NAMED_SCHEMAS.includes(key) ? named(value) : value;
  });
}

const mapped = (value: JsonObject, change: (key: string, value: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(key, one)]));

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const shown = (value: unknown): string =>
  typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
