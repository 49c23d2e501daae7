import { DomainError, fileLimitMessage, invalid } from "../../platform/errors";
import { bodyProblem } from "./library-messages";

/** Largest JSON of a GraphQL request. */
export const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** The error for a body that is too large. */
export const tooLarge = () =>
  new DomainError(
    "PAYLOAD_TOO_LARGE",
    `The body must be at most ${MAX_JSON_BYTES / 1024 / 1024} MiB, apart from a file.`,
  );

/** The error for a file that is too large. @param bytes the limit */
export const fileTooLarge = (bytes: number) => new DomainError("PAYLOAD_TOO_LARGE", fileLimitMessage(bytes));

/** The error of graphql-upload for a longer file. */
const TRUNCATED_FILE = /^File truncated as it exceeds the (\d+) byte size limit/;

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
  if (status === 413) return oversized(text);
  if (status === 415)
    return new DomainError(
      "UNSUPPORTED_MEDIA_TYPE",
      "Unsupported content type or encoding. Send the header Content-Type: application/json, in UTF-8.",
    );
  if (/^(Z_|ERR_)/.test(String(code)))
    return unreadable("the body must be compressed as Content-Encoding says");
  return unreadable(bodyProblem(text) ?? `the request cannot be read: ${text.slice(0, 200)}`);
}

function oversized(message: string): DomainError {
  const [, uploaded] = TRUNCATED_FILE.exec(message) ?? [];
  if (uploaded !== undefined) return fileTooLarge(Number(uploaded) - 1); // the handler adds one byte
  if (!/max file uploads/.test(message)) return tooLarge();
  return new DomainError(
    "PAYLOAD_TOO_LARGE",
    "A request may contain only one file. Send a request for each file.",
  );
}
