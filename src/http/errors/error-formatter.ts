import type { GraphQLError, GraphQLFormattedError } from "graphql";
import type { Logger } from "pino";
import { publicError } from "../../platform/errors";
import { toDomainError } from "./parser-errors";

/** Formats the errors of an operation for its client; internal errors are logged. */
export const errorFormatter =
  (logger: Logger) =>
  (error: GraphQLError, { requestId }: { readonly requestId: string }): GraphQLFormattedError => {
    const { locations, path } = error.toJSON();
    const at = { ...(locations && { locations }), ...(path && { path }) };
    if (!error.originalError && error.extensions.code !== undefined)
      return { message: error.message, ...at, extensions: { ...error.extensions, requestId } };
    const { message, ...extensions } = publicError(toDomainError(error.originalError ?? error));
    if (extensions.code === "INTERNAL")
      logger.error({ err: error.originalError ?? error, requestId }, "operation failed");
    return { message, ...at, extensions: { ...extensions, requestId } };
  };
