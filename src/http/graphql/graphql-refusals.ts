import {
  GraphQLError,
  Kind,
  separateOperations,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import { quoted, type Problem } from "../../platform/errors";
import { documentMessage } from "../errors/library-messages";
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
) => {
  const inOurWords = withoutLibraries({ message, extensions });
  return new GraphQLError(inOurWords.message, {
    nodes,
    source,
    positions,
    path,
    extensions: inOurWords.extensions,
  });
};

/** Replaces messages of libraries that tell a client's author too little. */
export function withoutLibraries<
  E extends { readonly message: string; readonly extensions?: Record<string, unknown> },
>(error: E): E & { readonly extensions: Record<string, unknown> } {
  const details = error.extensions?.details as readonly Problem[] | undefined;
  return {
    ...error,
    message: documentMessage(error.message),
    extensions: {
      ...error.extensions,
      ...(details && {
        details: details.map(({ path, message }) => ({ path, message: documentMessage(message) })),
      }),
    },
  };
}

/** The error for a request that names no operation of its document, or none at all although there are several. */
export function unknownOperation(document: DocumentNode, name: string | null | undefined): GraphQLError {
  const known = document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION && node.name ? [node.name.value] : [],
  );
  const choice = `Name one of its operations with operationName: ${known.join(", ")}.`;
  const message =
    name != null
      ? `The document contains no operation ${quoted(name)}. ${known.length > 0 ? choice : "Omit operationName."}`
      : known.length > 0
        ? `The document contains ${known.length} operations. ${choice}`
        : "The document contains no operation. Add a query, mutation or subscription.";
  return new GraphQLError(message, {
    extensions: { details: [{ path: "operationName", message: "must name an operation of the document" }] },
  });
}

/** The document with only one of its operations and the fragments that this operation uses. */
export function alone(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  const isAlone = document.definitions.every(
    (node) => node === operation || node.kind !== Kind.OPERATION_DEFINITION,
  );
  return isAlone ? document : separateOperations(document)[operation.name!.value]!; // several all have names
}

/** Removes the names that graphql-js suggests in variable errors; Apollo removes those in document errors. */
export function withoutNames({ message, nodes, extensions }: GraphQLError): GraphQLError {
  const bare = (text: string) => text.replace(/ Did you mean .+$/s, "");
  const details = (extensions.details as readonly Problem[] | undefined)?.map(({ path, message }) => ({
    path,
    message: bare(message),
  }));
  return new GraphQLError(bare(message), { nodes, extensions: details ? { details } : {} });
}

/** Errors of variables with the invalid value in `details`. @param document with one operation */
export function refusedVariables(
  { schema, introspection }: { readonly schema: GraphQLSchema; readonly introspection: boolean },
  document: DocumentNode,
  operation: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
  errors: readonly GraphQLError[],
): GraphQLError[] {
  const detailedErrors = withVariableDetails(errors, problemsOfVariables(schema, document, operation, sent));
  return introspection ? detailedErrors : detailedErrors.map(withoutNames);
}
