import {
  getNamedType,
  isLeafType,
  isObjectType,
  Kind,
  parseType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  type NameNode,
  type OperationDefinitionNode,
  type VariableDefinitionNode,
  type VariableNode,
} from "graphql";
import { ruleOf } from "../schema/core/rules";

const nameOf = (value: string): NameNode => ({ kind: Kind.NAME, value });
const variableOf = (name: string): VariableNode => ({ kind: Kind.VARIABLE, name: nameOf(name) });

const extensionsOf = <T extends GraphQLArgument | GraphQLField<unknown, unknown>>(
  all: readonly T[],
  present: readonly string[],
): T[] => all.filter((it) => ruleOf(it)["x-extension"] && !present.includes(it.name));

/**
 * Adds the extensions of the documented interface to the document of a route: fields marked as such of each selected
 * object, and arguments marked as such of the result, which become query parameters.
 */
export function withExtensions(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const info = new TypeInfo(schema);
  const added: VariableDefinitionNode[] = [];

  const argumentOf = ({ name, type }: GraphQLArgument): ArgumentNode => {
    added.push({ kind: Kind.VARIABLE_DEFINITION, variable: variableOf(name), type: parseType(String(type)) });
    return { kind: Kind.ARGUMENT, name: nameOf(name), value: variableOf(name) };
  };

  const Field = (node: FieldNode): FieldNode | undefined => {
    const type = getNamedType(info.getType());
    const { selectionSet, arguments: given = [] } = node;
    if (!isObjectType(type) || !selectionSet) return undefined;
    const selected = selectionSet.selections.map((selection) => (selection as FieldNode).name.value);
    const fields = extensionsOf(Object.values(type.getFields()), selected)
      .filter((field) => isLeafType(getNamedType(field.type)))
      .map(({ name }): FieldNode => ({ kind: Kind.FIELD, name: nameOf(name) }));
    const present = given.map(({ name }) => name.value);
    const wanted =
      node.alias?.value === "result" ? extensionsOf(info.getFieldDef()?.args ?? [], present) : [];
    return {
      ...node,
      arguments: [...given, ...wanted.map(argumentOf)],
      selectionSet: { ...selectionSet, selections: [...selectionSet.selections, ...fields] },
    };
  };

  const OperationDefinition = (node: OperationDefinitionNode): OperationDefinitionNode => ({
    ...node,
    variableDefinitions: [...(node.variableDefinitions ?? []), ...added],
  });
  const visitor = { Field: { leave: Field }, OperationDefinition: { leave: OperationDefinition } };
  return visit(document, visitWithTypeInfo(info, visitor));
}
