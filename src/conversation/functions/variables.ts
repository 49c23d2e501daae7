import { PLACEHOLDER } from "../../assistants/configurations/variable-names";
import type { JsonObject } from "../../platform/json/json-object";
import type { MissingVariables } from "../../platform/database/value-types";

type Source = Readonly<Record<string, unknown>> | null | undefined;

/** Values of variables. The first source that has a name provides its value. */
export class Values {
  constructor(
    private readonly sources: readonly Source[],
    /** Whether a name without a value becomes an empty text; otherwise it stays as written. */
    readonly blanks = false,
  ) {}

  has(name: string): boolean {
    return this.sourceOf(name) !== undefined;
  }

  /** Whether a name has a value other than null, which becomes an empty text. */
  isSet(name: string): boolean {
    return this.of(name) != null;
  }

  /** The value of a name; undefined if it has none. */
  of(name: string): unknown {
    return this.sourceOf(name)?.[name];
  }

  private sourceOf(name: string): Source {
    return this.sources.find((values) => values != null && Object.hasOwn(values, name));
  }
}

export const NO_VALUES = new Values([]);

/**
 * The values for an assistant's texts: those of the conversation, then its own. In a conversation that has started,
 * nothing can be refused, so the setting REFUSE has the effect of BLANK.
 */
export const valuesOf = (
  given: Source,
  { variables, missingVariables }: { variables: JsonObject | null; missingVariables: MissingVariables },
): Values => new Values([given, variables], missingVariables !== "KEEP");

/** Replaces each `{name}` with its value. Placeholders inside values are not replaced. */
export const fill = (text: string, values: Values): string =>
  text.replace(PLACEHOLDER, (placeholder, name: string) =>
    values.has(name) ? toText(values.of(name)) : values.blanks ? "" : placeholder,
  );

/** Replaces placeholders in every string of a value, but not in keys. */
export const fillDeep = (value: unknown, values: Values): unknown =>
  changeDeep(value, (text) => fill(text, values), "");

/** The texts in a value that `fillDeep` fills. */
export const textsIn = (value: unknown): string[] =>
  collected((collect) => changeDeep(value, collect, "")).map(({ text }) => text);

/** A text that variables are filled into. */
export interface FilledText {
  /** Its place: keys and indexes, joined by dots. */
  readonly path: string;
  readonly text: string;
}

/** @param path of the text */
type Change = (text: string, path: string) => string;

function collected(walk: (collect: Change) => unknown): FilledText[] {
  const texts: FilledText[] = [];
  walk((text, path) => (texts.push({ path, text }), text));
  return texts;
}

function changeDeep(value: unknown, change: Change, path: string): unknown {
  if (typeof value === "string") return change(value, path);
  if (Array.isArray(value)) return value.map((item, index) => changeDeep(item, change, `${path}.${index}`));
  if (typeof value !== "object" || value === null) return value;
  return mapEntries(value as JsonObject, (key, item) => changeDeep(item, change, `${path}.${key}`));
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
export const fillSchema = (parameters: JsonObject, values: Values): JsonObject =>
  changeSchemaPart(parameters, (text) => fill(text, values), "", ["description"]);

/** The texts in the parameters of a function that `fillSchema` fills. @param path of the parameters */
export const textsOfSchema = (parameters: JsonObject, path: string): FilledText[] =>
  collected((collect) => changeSchemaPart(parameters, collect, path, ["description"]));

function changeSchemaPart(
  schema: JsonObject,
  change: Change,
  path: string,
  filled: readonly string[],
): JsonObject {
  const inner = (value: unknown, at: string): unknown =>
    Array.isArray(value)
      ? value.map((item, index) => inner(item, `${at}.${index}`))
      : isObject(value)
        ? changeSchemaPart(value, change, at, FILLED)
        : value;
  const named = (value: unknown, at: string) =>
    isObject(value) ? mapEntries(value, (key, one) => inner(one, `${at}.${key}`)) : value;
  return mapEntries(schema, (key, value) => {
    const at = `${path}.${key}`;
    if (filled.includes(key)) return changeDeep(value, change, at);
    if (SCHEMAS.includes(key)) return inner(value, at);
    return NAMED_SCHEMAS.includes(key) ? named(value, at) : value;
  });
}

const mapEntries = (value: JsonObject, change: (key: string, value: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(key, one)]));

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const toText = (value: unknown): string =>
  typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
