import pino, { type Logger } from "pino";
import { DomainError, publicError } from "./errors";
import { FailureCount } from "./failure-count";
import { withSources } from "./source-of";

/** Depth of causes in a line: errors may refer to each other. */
const MAX_CAUSES = 5;

/** A logger of JSON lines on standard error. */
export function openLogger(level: string): Logger {
  const log = pino.destination(2).on("error", () => undefined); // the reader of the log has closed the pipe
  return pino({ level, serializers: { err: serializeError }, hooks: { logMethod: limitOutages() } }, log);
}

/**
 * The fields of an error that are logged. Errors of libraries also have fields with secrets and personal data, such as
 * the connection, the values of a query or the request.
 */
export function serializeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, cause, errors } = error as Error & { code?: unknown; errors?: unknown };
  const deeper = (each: unknown) => serializeError(each, depth + 1);
  const isDeep = depth >= MAX_CAUSES;
  return {
    type: error.constructor.name,
    message: error.message,
    ...((typeof code === "string" || typeof code === "number") && { code }),
    ...(error.stack !== undefined && { stack: withSources(error.stack) }),
    ...(cause != null && !isDeep && { cause: deeper(cause) }),
    ...(Array.isArray(errors) && !isDeep && { errors: errors.map(deeper) }),
  };
}

const OUTAGES = new Set<string>(["UNAVAILABLE", "INSUFFICIENT_STORAGE"]);

/**
 * Whether the database or a service is away or read-only, or the disk is full, which fails many requests alike. An error of
 * ours for that, as about the store of files, has a cause.
 */
const isOutage = (error: unknown): boolean =>
  error instanceof Error &&
  (!(error instanceof DomainError) || error.cause !== undefined) &&
  OUTAGES.has(publicError(error).code);

/** The code of an outage, of its cause if there is one. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown; name?: unknown } };
  return error instanceof DomainError ? String(cause?.code ?? cause?.name) : String(code);
}

/** Logs failures of an outage, such as that of the database, once a minute; `failures` counts those since the last line. */
function limitOutages(): NonNullable<NonNullable<pino.LoggerOptions["hooks"]>["logMethod"]> {
  const count = new FailureCount();
  return function (args: unknown[], method) {
    const [facts, message] = args;
    const write = (line: unknown[]) => method.apply(this, line as Parameters<typeof method>);
    const { err } = Object(facts) as { err?: unknown };
    if (!isOutage(err)) return write(args);
    const failures = count.toLog(`${String(message)} ${codeOf(err)}`);
    if (failures !== undefined) write([{ ...Object(facts), failures }, message]);
  };
}
