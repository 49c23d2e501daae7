import Ajv, { type ErrorObject, type ValidateFunction } from "ajv";
import { nearest } from "../../platform/nearest";
import { quoted } from "../../platform/errors";
import type { Kind } from "./kinds";
import type { Path, YamlFile } from "./yaml-file";

/** The JSON Schemas of files, by the kind of the record. */
export type Schemas = Readonly<Record<string, object>>;

const NOUNS: Readonly<Record<string, string>> = {
  object: "fields",
  array: "a list",
  string: "a text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  null: "null",
};
/** Values listed in a message. */
const MAX_VALUES = 12;

/** Compiles in half the time: a check of few files runs too briefly for code that is shorter, and Parley makes the schemas. */
const ONCE = { code: { optimize: false }, meta: false, validateSchema: false } as const;

/** Compares files with the schemas of a server. */
export class Checker {
  private readonly ajv = new Ajv({
    allErrors: true,
    strict: false,
    verbose: true,
    validateFormats: false,
    ...ONCE,
  })
    .removeKeyword("minLength")
    .addKeyword({
      keyword: "minLength",
      type: "string",
      // The server takes a text of spaces for an empty one.
      validate: (min: number, text: string) => min === 0 || (text.trim() !== "" && text.length >= min),
    });
  private readonly checks = new Map<Kind, ValidateFunction>();

  constructor(private readonly schemas: Schemas) {}

  /** Lines about values that the schema of the file refuses. */
  problemsOf(file: YamlFile): string[] {
    const check = this.checkOf(file.kind);
    if (check(file.fields)) return [];
    const errors = check.errors!;
    const own = errors.filter((error) => isOwn(error) && !isToldByValues(error, errors));
    const problems = new Set(own.map((error) => problemOf(file, error, errors)));
    return [...problems].sort((a, b) => a.localeCompare(b, "en", { numeric: true })); // by line and column
  }

  private checkOf(kind: Kind): ValidateFunction {
    const known = this.checks.get(kind);
    if (known) return known;
    const schema = this.schemas[kind];
    if (!schema)
      throw new Error(`The server has no schema for files of the kind ${kind}. Upgrade the server.`);
    const check = this.ajv.compile(schema);
    this.checks.set(kind, check);
    return check;
  }
}

/** Excludes errors about single alternatives: `oneOf` itself reports that none of them matches. */
const isOwn = ({ schemaPath }: ErrorObject): boolean => !schemaPath.includes("/oneOf/");

/** Whether an error about the type of a value is redundant, because another error lists the possible values. */
const isToldByValues = ({ keyword, instancePath }: ErrorObject, all: readonly ErrorObject[]): boolean =>
  keyword === "type" && all.some((one) => one.keyword === "enum" && one.instancePath === instancePath);

/** @param all errors of the file */
function problemOf(file: YamlFile, error: ErrorObject, all: readonly ErrorObject[]): string {
  const path = pathOf(error.instancePath);
  if (error.keyword === "oneOf") {
    const { instancePath } = all.find(({ schemaPath }) => schemaPath.startsWith(`${error.schemaPath}/`))!;
    return file.problemAt(pathOf(instancePath), messageOf(path.join("."), error));
  }
  const { additionalProperty } = error.params as { additionalProperty?: string };
  if (additionalProperty === undefined) {
    const advice = error.keyword === "type" ? quotingAdvice(file.sourceAt(path), error) : "";
    return file.problemAt(path, messageOf(path.join("."), error) + advice);
  }
  const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {});
  const meant = nearest(additionalProperty, known);
  const advice = meant === undefined ? `Known fields: ${known.join(", ")}.` : `Did you mean ${meant}?`;
  const message = `Unknown field ${quoted(additionalProperty)}. ${advice}`;
  return file.problemAt([...path, additionalProperty], message, "name");
}

/** Advice about a value that YAML reads as something else than the text that is meant. */
function quotingAdvice(source: string | undefined, { data, parentSchema }: ErrorObject): string {
  const types = [(parentSchema as { type: string | string[] }).type].flat();
  const isRead = typeof data === "number" || typeof data === "boolean";
  if (!isRead || !source || !types.includes("string") || isSecret(parentSchema)) return "";
  return ` Write it in quotes: "${source}".`;
}

const pathOf = (pointer: string): Path =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));

function messageOf(field: string, { keyword, params, data, parentSchema, message }: ErrorObject): string {
  const { limit, missingProperty } = params as { limit?: number; missingProperty?: string };
  const name = field || "The file";
  switch (keyword) {
    case "required":
      return `${name} must have the field ${missingProperty}.`;
    case "type":
      if (isSecret(parentSchema)) return `${name} ${parentSchema["x-expected"]}.`;
      return `${name} must be ${expectedTypes(parentSchema)}; got ${shown(data)}.`;
    case "enum":
      return `${name} must be ${values(parentSchema!.enum as unknown[])}; got ${shown(data)}.`;
    case "oneOf":
    case "pattern":
      return `${name} ${String(parentSchema!["x-expected"]).replace("{}", () => shown(data))}.`;
    case "minimum":
      return `${name} must be at least ${limit}; got ${shown(data)}.`;
    case "maximum":
      return `${name} must be at most ${limit}; got ${shown(data)}.`;
    case "minLength":
      return `${name} must not be empty.`;
    case "maxLength":
      return `${name} must be at most ${limit} characters long; got ${[...(data as string)].length}.`;
    case "maxItems":
      return `${name} must have at most ${limit} entries; got ${(data as unknown[]).length}.`;
    default:
      return `${name} ${message}.`;
  }
}

/** Whether a value must not be shown, even if it is wrong: the rule that a secret must follow does not show it. */
const isSecret = (schema: object | undefined): schema is { "x-expected": string } =>
  schema !== undefined && "x-expected" in schema && !String(schema["x-expected"]).includes("{}");

const expectedTypes = (schema: unknown): string =>
  [(schema as { type: string | string[] }).type]
    .flat()
    .map((type) => NOUNS[type] ?? type)
    .join(" or ");

function values(all: readonly unknown[]): string {
  const names = all.slice(0, MAX_VALUES).map(String);
  return `one of ${names.join(", ")}${all.length > MAX_VALUES ? ", …" : ""}`;
}

function shown(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "fields" : String(value);
}
