import { GraphQLError, type GraphQLSchema, type OperationDefinitionNode } from "graphql";
import { quoted, type Problem } from "../platform/errors";
import { withVariableDetails, problemsOfVariables } from "./graphql-problems";

/** Adds a code to an error that has none. */
export const withCode = (error: GraphQLError, code: string): GraphQLError =>
  withExtensions(error, { code, ...error.extensions });

/** Replaces the code of an error, as Apollo does: our limits of documents count as validation errors. */
export const withNewCode = (error: GraphQLError, code: string): GraphQLError =>
  withExtensions(error, { ...error.extensions, code });

const withExtensions = (
  { message, nodes, source, positions, path }: GraphQLError,
  extensions: Record<string, unknown>,
) => new GraphQLError(message, { nodes, source, positions, path, extensions });

export const unknownOperation = (name: string | null | undefined) =>
  new GraphQLError(
    name == null
      ? "The document contains no operation. Add a query, mutation or subscription."
      : `The document contains no operation ${quoted(name)}.`,
    {
      extensions: { details: [{ path: "operationName", message: "must name an operation of the document" }] },
    },
  );

/** Removes the names that graphql-js suggests in variable errors; Apollo removes those in document errors. */
export function withoutNames({ message, nodes, extensions }: GraphQLError): GraphQLError {
  const bare = (text: string) => text.replace(/ Did you mean .+$/s, "");
  const details = (extensions.details as readonly Problem[] | undefined)?.map(({ path, message }) => ({
    path,
    message: bare(message),
  }));
  return new GraphQLError(bare(message), { nodes, extensions: details ? { details } : {} });
}

/** Errors of variables with the invalid value in `details`. */
export function refusedVariables(
  { schema, introspection }: { readonly schema: GraphQLSchema; readonly introspection: boolean },
  { variableDefinitions }: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
  errors: readonly GraphQLError[],
): GraphQLError[] {
  const detailedErrors = withVariableDetails(
    errors,
    problemsOfVariables(schema, variableDefinitions ?? [], sent),
  );
  return introspection ? detailedErrors : detailedErrors.map(withoutNames);
}
