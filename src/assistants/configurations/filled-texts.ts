import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import type { ChannelConfiguration } from "./configurations";
import { isCheckable, isNested, readFunctions } from "./functions";

/** A text that variables are filled into. */
export interface FilledText {
  /** Its place: keys and indexes, joined by dots. */
  readonly path: string;
  readonly text: string;
}

/** The fields of a channel's configuration that have such texts. */
export type SpokenTexts = Pick<ChannelConfiguration, "initialMessage" | "prompt" | "functions">;

/** @param path of the text */
type Change = (text: string, path: string) => string;

/** The texts of a channel's configuration that variables are filled into, with their paths. */
export async function filledTexts(
  scope: Scope,
  { initialMessage = "", prompt = "", functions = [] }: Partial<SpokenTexts>,
): Promise<FilledText[]> {
  return [
    { path: "initialMessage", text: initialMessage },
    { path: "prompt", text: prompt },
    ...(await textsOfFunctions(scope, { functions })),
  ];
}

/**
 * The texts of functions that variables are filled into, with their paths in the configuration.
 * @param name of the only function to read
 */
export async function textsOfFunctions(
  scope: Scope,
  { functions }: Pick<ChannelConfiguration, "functions">,
  name?: string,
): Promise<FilledText[]> {
  const each = [...readFunctions(functions)].map(async ([index, declared]) => {
    if (name !== undefined && declared.name !== name) return [];
    const path = `functions.${index}${isNested(functions[index]!) ? ".function" : ""}`;
    const texts = [
      { path: `${path}.description`, text: declared.description },
      ...collected((collect) => changeSchema(declared.parameters, collect, `${path}.parameters`)),
    ];
    // The check runs in another thread; most functions have no variables.
    const matters = texts.some(({ text }) => text.includes("{"));
    return !matters || (await isCheckable(scope, declared)) ? texts : [];
  });
  return (await Promise.all(each)).flat();
}

/** The strings in a value. */
export const textsIn = (value: unknown): string[] =>
  collected((collect) => changeDeep(value, collect)).map(({ text }) => text);

function collected(walk: (collect: Change) => unknown): FilledText[] {
  const texts: FilledText[] = [];
  walk((text, path) => (texts.push({ path, text }), text));
  return texts;
}

/** Changes every string of a value, but not its keys. @param path of the value */
export function changeDeep(value: unknown, change: Change, path = ""): unknown {
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

/** Changes the texts in the parameters of a function that are not structure of the schema. @param path of the parameters */
export const changeSchema = (parameters: JsonObject, change: Change, path = ""): JsonObject =>
  changeSchemaPart(parameters, change, path, ["description"]);

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
    if (filled.includes(key)) {
      const changed = changeDeep(value, change, at);
      // Texts that have become equal would make the schema invalid.
      return key === "enum" && Array.isArray(changed) ? [...new Set<unknown>(changed)] : changed;
    }
    if (SCHEMAS.includes(key)) return inner(value, at);
    return NAMED_SCHEMAS.includes(key) ? named(value, at) : value;
  });
}

const mapEntries = (value: JsonObject, change: (key: string, value: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(key, one)]));

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
