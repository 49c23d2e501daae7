import {
  getNamedType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLObjectType,
} from "graphql";
import { DISCLOSURES } from "../../schema/core/disclosures";

type Field = GraphQLField<unknown, unknown>;

/** Levels of objects below the result of a tool. */
const MAX_DEPTH = 4;

const isSecret = (parent: GraphQLObjectType, { name }: Field): boolean =>
  DISCLOSURES[parent.name]?.[name] !== undefined;

/** Whether a field is a part of its record: a value, or objects that are read with it. */
const isPart = (field: Field): boolean => isLeafType(getNamedType(field.type)) || field.resolve === undefined;

/**
 * The plain fields of a type, at all depths, and those named by `shows` on the first record. Fields that need arguments,
 * that hold secrets, or that read other records are left out; of a connection, the nodes are shown.
 */
function selectionOf(type: GraphQLObjectType, shows: readonly string[], depth: number): string {
  const isConnection = "pageInfo" in type.getFields();
  const fields = Object.values(type.getFields()).filter(
    (field) =>
      !field.args.some(isRequiredArgument) &&
      !isSecret(type, field) &&
      !field.deprecationReason &&
      (isConnection ? field.name !== "edges" && field.name !== "totalCount" : true) &&
      (isPart(field) || shows.includes(field.name)),
  );
  const selected = fields.flatMap((field) => {
    const inner = getNamedType(field.type);
    if (!isCompositeType(inner)) return field.name;
    if (!isObjectType(inner) || depth === MAX_DEPTH) return [];
    const wrapped = ["nodes", "data"].includes(field.name) ? shows : [];
    return `${field.name} ${selectionOf(inner, wrapped, depth + 1)}`;
  });
  return `{ ${selected.join(" ")} }`;
}

/** The document of a tool: a variable for each argument of the operation, and what an agent can use of its result. */
export function toolDocument(
  kind: "query" | "mutation",
  { name, args, type }: Field,
  shows: readonly string[],
): string {
  const declared = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(", ");
  const given = args.map((arg) => `${arg.name}: $${arg.name}`).join(", ");
  const result = getNamedType(type);
  const selection = isObjectType(result) ? selectionOf(result, shows, 0) : "";
  return args.length > 0
    ? `${kind} ${name}(${declared}) { ${name}(${given}) ${selection} }`
    : `${kind} ${name} { ${name} ${selection} }`;
}
