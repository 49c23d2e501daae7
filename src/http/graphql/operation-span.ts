import { getOperationAST, Kind, type DocumentNode, type GraphQLError } from "graphql";
import { publicError } from "../../platform/errors";
import type { Attributes } from "../../platform/tracing/tracing";

/** Fields that the name of a span lists; a client may select many. */
const MAX_NAMED = 3;

/** The name and attributes of an operation's span: its fields, and the name that the client gave it. */
export function operationSpan(document: DocumentNode): {
  readonly name: string;
  readonly attributes: Attributes;
} {
  const { operation, name, selectionSet } = getOperationAST(document)!; // the document has one
  const fields = selectionSet.selections.flatMap((node) =>
    node.kind === Kind.FIELD ? [node.name.value] : [],
  );
  const named = [...new Set(fields)].slice(0, MAX_NAMED).join(" ");
  const attributes = {
    "graphql.operation.type": operation,
    "graphql.operation.name": name?.value.slice(0, 100),
  };
  return { name: `${operation} ${named}`.trimEnd(), attributes };
}

/** The code with which a failed operation is marked. */
export function codeOf({ originalError, extensions }: GraphQLError): string {
  if (originalError) return publicError(originalError).code;
  const { code } = Object(extensions) as { readonly code?: unknown }; // errors of graphql-jit may lack extensions
  return typeof code === "string" ? code : "INTERNAL";
}
