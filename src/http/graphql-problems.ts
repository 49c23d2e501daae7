import {
  coerceInputValue,
  GraphQLError,
  isInputType,
  isNonNullType,
  Kind,
  typeFromAST,
  visit,
  type ASTNode,
  type DocumentNode,
  type GraphQLSchema,
  type VariableDefinitionNode,
} from "graphql";
import type { Problem } from "../platform/errors";

type Definitions = readonly VariableDefinitionNode[];

/** The problems of variables: one for each error of graphql-js, in the same order. */
export function problemsOfVariables(
  schema: GraphQLSchema,
  definitions: Definitions,
  values: Readonly<Record<string, unknown>>,
): Problem[] {
  const problems: Problem[] = [];
  for (const { variable, type: node, defaultValue } of definitions) {
    const name = variable.name.value;
    const type = typeFromAST(schema, node as never); // its overloads each accept one kind of type
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!isInputType(type) || (value === undefined && (defaultValue || !isNonNullType(type)))) continue;
    if (value === undefined) problems.push({ path: name, message: "is required" });
    else if (value === null && isNonNullType(type))
      problems.push({ path: name, message: "must not be null" });
    else
      coerceInputValue(value, type, (path, _value, { message }) =>
        problems.push({ path: [name, ...path].join("."), message }),
      );
  }
  return problems;
}

/** Adds the invalid value of a variable to each error's `details`. */
export const withVariableDetails = (
  errors: readonly GraphQLError[],
  problems: readonly Problem[],
): GraphQLError[] => errors.map((error, index) => withDetails(error, problems[index]));

/** Adds the path of an invalid value in the document, or of the variable in its place, to an error's `details`. */
export function withValueDetails(error: GraphQLError, document: DocumentNode): GraphQLError {
  const [node] = error.nodes ?? [];
  const path = node && pathOf(node, document);
  return withDetails(error, path === undefined ? undefined : { path, message: error.message });
}

function withDetails(error: GraphQLError, problem: Problem | undefined): GraphQLError {
  const { message, nodes, extensions } = error;
  if (!problem) return error;
  return new GraphQLError(message, { nodes, extensions: { ...extensions, details: [problem] } });
}

/** Path of the argument and fields that lead to a value, or the name of a variable; undefined for other nodes. */
function pathOf(node: ASTNode, document: DocumentNode): string | undefined {
  if (node.kind === Kind.VARIABLE) return node.name.value;
  if (!/Value$/.test(node.kind)) return undefined;
  let path: string | undefined;
  visit(document, {
    enter: (one, _key, parent, _steps, ancestors) => {
      if (one !== node) return;
      path = [...ancestors, parent!]
        .flatMap((ancestor) => ("kind" in ancestor ? nameOf(ancestor) : []))
        .join(".");
    },
  });
  return path;
}

/** The name of an argument or of an object's field; empty for other nodes. */
const nameOf = (node: ASTNode): readonly string[] =>
  node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD ? [node.name.value] : [];
