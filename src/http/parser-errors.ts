import { DomainError, invalid } from "../platform/errors";

/** Largest JSON of a GraphQL request. */
export const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** The error for a body that is too large. */
export const tooLarge = () =>
  new DomainError(
    "PAYLOAD_TOO_LARGE",
    `The body must be at most ${MAX_JSON_BYTES / 1024 / 1024} MiB, apart from a file.`,
  );

/** Converts errors of Express's body parser and graphql-upload to errors of ours. */
export function toDomainError(error: unknown): unknown {
  const { status, message } = Object(error) as { status?: unknown; message?: unknown };
  if (error instanceof DomainError || typeof status !== "number" || status >= 500) return error;
  if (status === 413)
    return /max file uploads/.test(String(message))
      ? new DomainError(
          "PAYLOAD_TOO_LARGE",
          "A request may contain only one file. Send a request for each file.",
        )
      : tooLarge();
  if (status === 415)
    return new DomainError(
      "UNSUPPORTED_MEDIA_TYPE",
      "Unsupported content type or encoding. Send the header Content-Type: application/json, in UTF-8.",
    );
  return invalid([{ path: "", message: `the request cannot be read: ${String(message).slice(0, 200)}` }]);
}
