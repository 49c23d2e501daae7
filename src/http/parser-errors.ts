import { DomainError, invalid } from "../platform/errors";

/** Converts errors of Express's body parser and graphql-upload to errors of ours. */
export function toDomainError(error: unknown): unknown {
  const { status, message } = Object(error) as { status?: unknown; message?: unknown };
  if (error instanceof DomainError || typeof status !== "number" || status >= 500) return error;
  if (status === 413)
    return new DomainError(
      "PAYLOAD_TOO_LARGE",
      /max file uploads/.test(String(message))
        ? "A request may contain only one file."
        : "The body is too large.",
    );
  if (status === 415)
    return new DomainError("UNSUPPORTED_MEDIA_TYPE", "The body's type or encoding is not supported.");
  return invalid([{ path: "", message: `the request cannot be read: ${String(message).slice(0, 200)}` }]);
}
