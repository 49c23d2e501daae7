import {
  BREAK,
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
  type OperationDefinitionNode,
} from "graphql";
import type { Problem } from "../../platform/errors";

/*
 * A path begins with the argument, as the client has written it: `input.name`. Values of variables get the path of the
 * place where the document uses the variable.
 */

/**
 * The problems of variables: one for each error of graphql-js, in the same order.
 * @param document with one operation
 */
export function problemsOfVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): Problem[] {
  const problems: Problem[] = [];
  for (const { variable, type: node, defaultValue } of variableDefinitions) {
    const name = variable.name.value;
    const type = typeFromAST(schema, node as never); // its overloads each accept one kind of type
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!isInputType(type) || (value === undefined && (defaultValue || !isNonNullType(type)))) continue;
    const isUse = (one: ASTNode) => one.kind === Kind.VARIABLE && one.name.value === name;
    const place = pathTo(document, isUse) ?? name;
    if (value === undefined) problems.push({ path: place, message: "is required" });
    else if (value === null && isNonNullType(type))
      problems.push({ path: place, message: "must not be null" });
    else
      coerceInputValue(value, type, (path, _value, { message }) =>
        problems.push({
          path: withField([place, ...path].join("."), message),
          message: withoutText(message),
        }),
      );
  }
  return problems;
}

/** Adds the invalid value of a variable to each error's `details`. */
export const withVariableDetails = (
  errors: readonly GraphQLError[],
  problems: readonly Problem[],
): GraphQLError[] =>
  errors.map((error, index) => withDetails(withoutValue(error, problems[index]), problems[index]));

/** The message of a variable's error without the value, which may contain secrets: clients keep messages in their logs. */
function withoutValue(error: GraphQLError, problem: Problem | undefined): GraphQLError {
  const [, variable] = /^(Variable "\$\w+") got invalid value /.exec(error.message) ?? [];
  if (variable === undefined || !problem) return error;
  const { nodes, extensions } = error;
  const message = `${variable} got an invalid value at "${problem.path}"; ${problem.message}`;
  return new GraphQLError(message, { nodes, extensions });
}

/** The text that stands where a text is expected may be a secret in a wrong form. */
const withoutText = (message: string): string => message.replace(NO_STRING, "$1");
const NO_STRING = /^(String cannot represent a non string value): [^]*$/;

/** Adds the path of an invalid value in the document to an error's `details`. */
export function withValueDetails(error: GraphQLError, document: DocumentNode): GraphQLError {
  const { message, nodes = [] } = error;
  const [, missing] = /^Field ".+?" argument "(.+?)" of type .+ is required/.exec(message) ?? [];
  const [path = missing] = nodes.flatMap((node) => pathTo(document, (one) => one === node) ?? []);
  return withDetails(error, path === undefined ? undefined : { path: withField(path, message), message });
}

function withDetails(error: GraphQLError, problem: Problem | undefined): GraphQLError {
  const { message, nodes, extensions } = error;
  if (!problem) return error;
  return new GraphQLError(message, { nodes, extensions: { ...extensions, details: [problem] } });
}

/** Adds the field that a message of graphql-js is about, if the path ends at the object around it. */
function withField(path: string, message: string): string {
  const [, field] = /^Field "(?:\w+\.)?(\w+)" (?:of required type|is not defined)/.exec(message) ?? [];
  return field === undefined || path.split(".").at(-1) === field ? path : `${path}.${field}`;
}

/** The argument, fields and list positions that lead to a node; undefined outside of arguments. */
function pathTo(document: DocumentNode, isWanted: (node: ASTNode) => boolean): string | undefined {
  let found: string | undefined;
  visit(document, {
    enter: (node, _key, parent, keys, ancestors) => {
      if (!isWanted(node)) return undefined;
      const above = parent === undefined ? [] : [...ancestors, parent];
      const steps = [...above, node].flatMap((one, index) => stepOf(one, above[index - 1], keys[index]));
      if (steps.length === 0) return undefined;
      found = steps.join(".");
      return BREAK;
    },
  });
  return found;
}

type Visited = ASTNode | readonly ASTNode[];

/** The part of a path that stands for an argument, a field of an object or an item of a list; empty for other nodes. */
function stepOf(
  one: Visited,
  above: Visited | undefined,
  key: string | number | undefined,
): (string | number)[] {
  if (!("kind" in one))
    return above !== undefined && "kind" in above && above.kind === Kind.LIST ? [key!] : [];
  return one.kind === Kind.ARGUMENT || one.kind === Kind.OBJECT_FIELD ? [one.name.value] : [];
}
