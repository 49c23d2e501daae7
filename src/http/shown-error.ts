import type { GraphQLError, GraphQLFormattedError } from "graphql";
import type { Logger } from "pino";
import { publicError } from "../platform/errors";
import { refusalOf } from "./refusal";

/** Errors of an operation as its client may see them; what is a fault of ours is logged. */
export const shownBy =
  (logger: Logger) =>
  (error: GraphQLError, { requestId }: { readonly requestId: string }): GraphQLFormattedError => {
    const { locations, path } = error.toJSON();
    const at = { ...(locations && { locations }), ...(path && { path }) };
    if (!error.originalError && error.extensions.code !== undefined)
      return { message: error.message, ...at, extensions: { ...error.extensions, requestId } };
    const { message, ...extensions } = publicError(refusalOf(error.originalError ?? error));
    if (extensions.code === "INTERNAL")
      logger.error({ err: error.originalError ?? error, requestId }, "operation failed");
    return { message, ...at, extensions: { ...extensions, requestId } };
  };
