import {
  getNamedType,
  isObjectType,
  type FieldNode,
  type GraphQLOutputType,
  type SelectionSetNode,
} from "graphql";

/** Converts a GraphQL result to a REST body. */
export type Shape = (value: unknown) => unknown;

const asIs: Shape = (value) => value;

/**
 * Omits fields that are null, except those in `nullable`. Free-form objects are unchanged, because their nulls are
 * the client's.
 */
export function shaperOf(
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
  nullable: readonly string[],
): Shape {
  const parent = getNamedType(type);
  if (!selection || !isObjectType(parent)) return asIs;
  const fields = selection.selections.map((node) => {
    const { alias, name, selectionSet } = node as FieldNode; // routes use no fragments
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
