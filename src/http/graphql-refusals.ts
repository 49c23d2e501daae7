import { GraphQLError, type GraphQLSchema, type OperationDefinitionNode } from "graphql";
import type { Problem } from "../platform/errors";
import { detailed, problemsOfVariables } from "./graphql-problems";

/** An error with a code, unless it has one. */
export const coded = (error: GraphQLError, code: string): GraphQLError =>
  withExtensions(error, { code, ...error.extensions });

/** An error with a code in place of its own, as Apollo puts it: a limit of documents is a rule like the specification's. */
export const recoded = (error: GraphQLError, code: string): GraphQLError =>
  withExtensions(error, { ...error.extensions, code });

const withExtensions = (
  { message, nodes, source, positions, path }: GraphQLError,
  extensions: Record<string, unknown>,
) => new GraphQLError(message, { nodes, source, positions, path, extensions });

export const unknownOperation = (name: string | null | undefined) =>
  new GraphQLError(
    name == null
      ? "The document holds no operation."
      : `The document holds no operation "${name.slice(0, 100)}".`,
    {
      extensions: { details: [{ path: "operationName", message: "must name an operation of the document" }] },
    },
  );

/** An error without the names that graphql-js suggests; Apollo hides those of the document itself. */
export function withoutNames({ message, nodes, extensions }: GraphQLError): GraphQLError {
  const bare = (text: string) => text.replace(/ Did you mean .+$/s, "");
  const details = (extensions.details as readonly Problem[] | undefined)?.map(({ path, message }) => ({
    path,
    message: bare(message),
  }));
  return new GraphQLError(bare(message), { nodes, extensions: details ? { details } : {} });
}

/** Errors of variables, each with the value that is wrong in `details`. */
export function refusedVariables(
  { schema, introspection }: { readonly schema: GraphQLSchema; readonly introspection: boolean },
  { variableDefinitions }: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
  errors: readonly GraphQLError[],
): GraphQLError[] {
  const wrong = detailed(errors, problemsOfVariables(schema, variableDefinitions ?? [], sent));
  return introspection ? wrong : wrong.map(withoutNames);
}
