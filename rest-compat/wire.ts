import {
  getNamedType,
  isObjectType,
  type FieldNode,
  type GraphQLOutputType,
  type SelectionSetNode,
} from "graphql";

/** Turns what GraphQL answered into what goes on the wire. */
export type Shape = (value: unknown) => unknown;

const asIs: Shape = (value) => value;

/**
 * Leaves out the fields that are null, but for those in `nullable`. Objects of free form stay untouched: a null in
 * them is the customer's.
 */
export function shaperOf(
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
  nullable: readonly string[],
): Shape {
  const parent = getNamedType(type);
  if (!selection || !isObjectType(parent)) return asIs;
  const fields = selection.selections.map((node) => {
    const { alias, name, selectionSet } = node as FieldNode; // rows have no fragments
    const field = parent.getFields()[name.value]!;
    const key = (alias ?? name).value;
    return { key, shape: shaperOf(field.type, selectionSet, nullable), keepsNull: nullable.includes(key) };
  });
  const object: Shape = (value) => {
    const record = value as Readonly<Record<string, unknown>>;
    const shaped: Record<string, unknown> = {};
    for (const { key, shape, keepsNull } of fields)
      if (record[key] != null || keepsNull) shaped[key] = record[key] == null ? null : shape(record[key]);
    return shaped;
  };
  return (value) =>
    Array.isArray(value) ? value.map((item) => (item === null ? null : object(item))) : object(value);
}
