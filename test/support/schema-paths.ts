import {
  getNamedType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from "graphql";
import type { Operation } from "./operations";
import type { World } from "./world";

type Field = GraphQLField<unknown, unknown>;

/** Fields from a root to an object, each with the type that declares it. */
export type SchemaPath = readonly { readonly on: string; readonly field: Field }[];

/** Values for the arguments that fields below the roots require. */
const ARGUMENTS: Readonly<Record<string, (world: World) => Readonly<Record<string, string>>>> = {
  "Assistant.log": ({ chatId: id }) => ({ id }),
};

/** Deep enough for every type of the schema, including pages and connections. */
const DEEPEST = 11;

/** The paths below a root field, the root field first in each; a path meets each type once. */
export function pathsBelow(
  schema: GraphQLSchema,
  root: GraphQLObjectType,
  name: string,
  goesOn: (path: SchemaPath) => boolean,
): SchemaPath[] {
  const found: SchemaPath[] = [];
  const walk = (path: SchemaPath, met: ReadonlySet<string>) => {
    found.push(path);
    if (path.length >= DEEPEST || !goesOn(path)) return;
    for (const type of typesAt(schema, path))
      for (const field of Object.values(type.getFields())) {
        const target = getNamedType(field.type);
        if (isCompositeType(target) && !met.has(target.name))
          walk([...path, { on: type.name, field }], new Set([...met, target.name]));
      }
  };
  const field = root.getFields()[name]!;
  const target = getNamedType(field.type);
  if (isCompositeType(target)) walk([{ on: root.name, field }], new Set([target.name]));
  return found;
}

const typesAt = (schema: GraphQLSchema, path: SchemaPath): readonly GraphQLObjectType[] => {
  const type = getNamedType(path.at(-1)!.field.type);
  if (isObjectType(type)) return [type];
  return isCompositeType(type) ? schema.getPossibleTypes(type) : [];
};

/**
 * The operation that selects only a path. @param leaf selection at its end
 * @param entries number of entries of lists below the root
 */
export function operationOf(
  kind: Operation["kind"],
  path: SchemaPath,
  world: World,
  leaf = "{ __typename }",
  entries = 2,
): Operation {
  const [{ field: root }, ...below] = path as [SchemaPath[number], ...SchemaPath];
  const selection = below.reduceRight(
    (inner, { on, field }) =>
      `{ ... on ${on} { ${field.name}${argumentsOf(on, field, world, entries)} ${inner} } }`,
    leaf,
  );
  const variables = root.args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(", ");
  const values = root.args.map((arg) => `${arg.name}: $${arg.name}`).join(", ");
  const text = `${kind} ${variables && `(${variables})`} { ${root.name}${values && `(${values})`} ${selection} }`;
  return { kind, name: root.name, text };
}

/** All scalar fields without arguments at the end of a path. */
export function leavesOf(schema: GraphQLSchema, path: SchemaPath): string {
  const parts = typesAt(schema, path).map((type) => {
    const names = Object.values(type.getFields())
      .filter(({ type, args }) => isLeafType(getNamedType(type)) && !args.some(isRequiredArgument))
      .map(({ name }) => `${type.name}_${name}: ${name}`);
    return `... on ${type.name} { ${["__typename", ...names].join(" ")} }`;
  });
  return parts.length > 0 ? `{ ${parts.join(" ")} }` : "";
}

/** Requests few entries of each list, because the cost of an operation is limited. */
function argumentsOf(on: string, { name, args }: Field, world: World, entries: number): string {
  const place = `${on}.${name}`;
  const given: Record<string, string | number> = { ...ARGUMENTS[place]?.(world) };
  for (const arg of args) {
    if (isRequiredArgument(arg) && !(arg.name in given))
      throw new Error(`test/support/schema-paths.ts lacks a value for the argument ${arg.name} of ${place}`);
    if (["first", "take"].includes(arg.name)) given[arg.name] = entries;
  }
  const written = Object.entries(given).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return written.length > 0 ? `(${written.join(", ")})` : "";
}

export const nameOf = (path: SchemaPath): string => path.map(({ field }) => field.name).join(".");
