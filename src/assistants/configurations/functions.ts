import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";

/** A user-defined function, parsed from one of the two supported formats. */
export interface DeclaredFunction {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema object. */
  readonly parameters: JsonObject;
  readonly serverUrl?: string;
  readonly secretKey?: string;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const TYPES = ["object", "string", "boolean", "number"];

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

/** Whether an item of `functions` has the nested format. */
export const isNested = (item: JsonObject): boolean => item.type === "function" && isObject(item.function);

/**
 * Parses an item of `functions`: flat `{name, description, parameters, serverUrl, secretKey}` or nested
 * `{type: "function", function: {name, description, parameters}, server: {url, secret}}`. Does not check whether the
 * schema of the parameters can be compiled: `ArgumentChecker` does, in a worker thread.
 * @returns the function, or the reason why it is never offered to a model
 */
export function readFunction(item: JsonObject): DeclaredFunction | string {
  const nested = isNested(item);
  const { name, description, parameters } = nested ? (item.function as JsonObject) : item;
  const server = isObject(item.server) ? item.server : {};
  if (typeof name !== "string" || !NAME.test(name)) return "has no name of 1 to 64 letters, digits, _ or -";
  const schema = parameters ?? { type: "object", properties: {} };
  const problem = problemOfSchema(schema);
  if (problem) return problem;
  const serverUrl = text(nested ? server.url : item.serverUrl);
  const secretKey = text(nested ? server.secret : item.secretKey);
  return {
    name,
    description: text(description) ?? "",
    parameters: schema as JsonObject,
    ...(serverUrl !== undefined && { serverUrl }),
    ...(secretKey !== undefined && { secretKey }),
  };
}

function problemOfSchema(schema: unknown): string | undefined {
  if (!isObject(schema) || (schema.type ?? "object") !== "object")
    return "has parameters that are not a JSON Schema of type object";
  if (schema.properties !== undefined && !isObject(schema.properties))
    return "has parameters.properties that is not an object";
  for (const [name, property] of Object.entries((schema.properties ?? {}) as JsonObject))
    if (!isObject(property) || !TYPES.includes(String(property.type)))
      return `has a property ${name} whose type is not one of ${TYPES.join(", ")}`;
  const { required } = schema;
  const isList = Array.isArray(required) && required.every((name) => typeof name === "string");
  return required === undefined || isList ? undefined : "has parameters.required that is not a list of names";
}

/** The items of a configuration as functions, or as sentences why they are never offered to a model. Names count once. */
export function readEach(items: readonly JsonObject[]): readonly (DeclaredFunction | string)[] {
  const names = new Set<string>();
  return items.map((item) => {
    const read = readFunction(item);
    if (typeof read === "string") return `The function ${read}; it is never offered to a model.`;
    if (names.has(read.name))
      return `The name ${read.name} is used twice; this one is never offered to a model.`;
    names.add(read.name);
    return read;
  });
}

/** The functions among the items of a configuration, by the index of the item. Leaves out those that repeat a name. */
export const readFunctions = (items: readonly JsonObject[]): ReadonlyMap<number, DeclaredFunction> =>
  new Map(
    readEach(items).flatMap((read, index) => (typeof read === "string" ? [] : [[index, read] as const])),
  );

/** Whether arguments for the function can be checked. */
export const isCheckable = async ({ organizationId, ports }: Scope, { parameters }: DeclaredFunction) =>
  (await ports.checker.problemOf(organizationId, parameters)) === undefined;
