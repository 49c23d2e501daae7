import {
  getNamedType,
  getNullableType,
  GraphQLError,
  isCompositeType,
  isListType,
  isObjectType,
  type GraphQLSchema,
} from "graphql";

/** Fields with the records of a page or a connection. */
const RECORDS = ["data", "nodes"];

/** The selection to suggest for a field that a page lacks and its records have; undefined for other fields. */
function selectionFor(schema: GraphQLSchema, typeName: string, name: string): string | undefined {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) return undefined;
  for (const records of RECORDS) {
    const list = type.getFields()[records];
    const record = list && isListType(getNullableType(list.type)) ? getNamedType(list.type) : undefined;
    const field = isObjectType(record) ? record.getFields()[name] : undefined;
    if (!field) continue;
    const inner = isCompositeType(getNamedType(field.type)) ? " { ... }" : "";
    return `${records} { ${name}${inner} }`;
  }
  return undefined;
}

/** The message of an unknown field, with the selection that was meant if a list was queried like a record. */
export function withListHint(schema: GraphQLSchema, message: string): string {
  const [, name, typeName] = /^Cannot query field "(\w+)" on type "(\w+)"\.$/.exec(message) ?? [];
  const meant = name && typeName && selectionFor(schema, typeName, name);
  return meant ? `${message} Did you mean "${meant}"?` : message;
}

/** The same for an error. */
export const withListHintIn = (schema: GraphQLSchema, error: GraphQLError): GraphQLError =>
  new GraphQLError(withListHint(schema, error.message), { nodes: error.nodes, extensions: error.extensions });
