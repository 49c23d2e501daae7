import { DomainError, invalid } from "../platform/errors";
import { bodyProblem } from "./library-messages";

/** Largest JSON of a GraphQL request. */
export const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** The error for a body that is too large. */
export const tooLarge = () =>
  new DomainError(
    "PAYLOAD_TOO_LARGE",
    `The body must be at most ${MAX_JSON_BYTES / 1024 / 1024} MiB, apart from a file.`,
  );

/** Errors of busboy, which have neither a status nor a code, for a form that ends within a file or has a broken part. */
const BROKEN_FORM = /^(Unexpected end of (form|file)|Malformed part header)$/;

const unreadable = (message: string) => invalid([{ path: "", message }]);

/** Converts errors of Express's body parser and graphql-upload to errors of ours. */
export function toDomainError(error: unknown): unknown {
  const { status, code, message } = Object(error) as Readonly<Record<"status" | "code" | "message", unknown>>;
  if (error instanceof DomainError) return error;
  const text = String(message);
  if (status === undefined && code === undefined && BROKEN_FORM.test(text))
    return unreadable(bodyProblem(text)!);
  if (typeof status !== "number" || status >= 500) return error;
  if (status === 413)
    return /max file uploads/.test(text)
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
  if (/^(Z_|ERR_)/.test(String(code)))
    return unreadable("the body must be compressed as Content-Encoding says");
  return unreadable(bodyProblem(text) ?? `the request cannot be read: ${text.slice(0, 200)}`);
}
