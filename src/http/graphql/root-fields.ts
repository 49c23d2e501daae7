import {
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type InlineFragmentNode,
  type OperationDefinitionNode,
  type SelectionNode,
} from "graphql";

/** One root field of an operation, with a document that selects nothing else. */
export interface RootField {
  /** The key of its value in the answer. */
  readonly key: string;
  /** The field of the schema. */
  readonly node: FieldNode;
  readonly document: DocumentNode;
}

/** The root fields of a valid document with one operation, in their order; fragments and their conditions stay around them. */
export function rootFieldsOf(document: DocumentNode): RootField[] {
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)!;
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  );
  const selections = inlined(operation.selectionSet.selections, fragments);
  const fields = new Map(fieldsIn(selections).map((node) => [keyOf(node), node]));
  return [...fields].map(([key, node]) => ({
    ...{ key, node },
    document: withSelections(document, operation, only(key, selections)),
  }));
}

const keyOf = ({ alias, name }: FieldNode): string => (alias ?? name).value;

/** Writes the fragments of the root type in the place of their names. */
const inlined = (
  selections: readonly SelectionNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): (FieldNode | InlineFragmentNode)[] =>
  selections.map((node) => {
    if (node.kind === Kind.FIELD) return node;
    const { typeCondition, selectionSet } =
      node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value)! : node; // a valid document has it
    return {
      kind: Kind.INLINE_FRAGMENT,
      ...{ typeCondition, directives: node.directives },
      selectionSet: { ...selectionSet, selections: inlined(selectionSet.selections, fragments) },
    };
  });

const fieldsIn = (selections: readonly SelectionNode[]): FieldNode[] =>
  selections.flatMap((node) =>
    node.kind === Kind.FIELD
      ? [node]
      : node.kind === Kind.INLINE_FRAGMENT
        ? fieldsIn(node.selectionSet.selections)
        : [],
  );

const only = (key: string, selections: readonly SelectionNode[]): SelectionNode[] =>
  selections.flatMap((node): SelectionNode[] => {
    if (node.kind === Kind.FIELD) return keyOf(node) === key ? [node] : [];
    if (node.kind === Kind.FRAGMENT_SPREAD) return [];
    const left = only(key, node.selectionSet.selections);
    return left.length === 0 ? [] : [{ ...node, selectionSet: { ...node.selectionSet, selections: left } }];
  });

const withSelections = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  selections: readonly SelectionNode[],
): DocumentNode => ({
  ...document,
  definitions: document.definitions.map((node) =>
    node === operation ? { ...operation, selectionSet: { ...operation.selectionSet, selections } } : node,
  ),
});
