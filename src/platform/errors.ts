import { setTimeout as pause } from "node:timers/promises";
import { asInstalled } from "./installed";
import { NETWORK_FAILURES } from "./network-failures";
import { MISSING } from "./missing-records";

/**
 * One invalid value in a request: its path and what is wrong with it. Services write the field of an input (`name`);
 * GraphQL adds the argument (`input.name`).
 */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Every error code that a client may see. src/http/errors/error-body.ts maps each to an HTTP status. */
export type ErrorCode =
  | "BAD_USER_INPUT"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "TEMPLATE_READ_ONLY"
  | "QUOTA_EXCEEDED"
  | "ASSISTANT_NOT_FOUND"
  | "CHAT_NOT_FOUND"
  | "LOG_NOT_FOUND"
  | "KEY_NOT_FOUND"
  | "WEBHOOK_DESTINATION_NOT_FOUND"
  | "EVENT_NOT_FOUND"
  | "DELIVERY_NOT_FOUND"
  | "PROJECT_NOT_FOUND"
  | "FUNCTION_NOT_FOUND"
  | "TOOL_SERVER_NOT_FOUND"
  | "VERSION_NOT_FOUND"
  | "DRAFT_NOT_FOUND"
  | "FILE_NOT_FOUND"
  | "FILE_CONTENT_MISSING"
  | "CALL_NOT_FOUND"
  | "WORKFLOW_NOT_FOUND"
  | "DEPLOYMENT_NOT_FOUND"
  | "WORKFLOW_NODE_NOT_FOUND"
  | "WORKFLOW_EDGE_NOT_FOUND"
  | "TELEPHONY_CONNECTION_NOT_FOUND"
  | "ERASURE_NOT_FOUND"
  | "EXPORT_NOT_FOUND"
  | "NODE_NOT_FOUND"
  | "NOT_FOUND"
  | "CHAT_ENDED"
  | "CHAT_LIVE"
  | "CHANNEL_DISABLED"
  | "WEBHOOK_DESTINATION_DISABLED"
  | "WORKFLOW_HAS_PROBLEMS"
  | "MISSING_VARIABLES"
  | "DEPLOYMENT_NOT_CALLABLE"
  | "CONFLICT"
  | "VERSION_CONFLICT"
  | "REQUEST_IN_PROGRESS"
  | "IDEMPOTENCY_KEY_REUSED"
  | "PERSISTED_QUERY_NOT_IN_LIST"
  | "PRECONDITION_FAILED"
  | "METHOD_NOT_ALLOWED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "RATE_LIMITED"
  | "NOT_IMPLEMENTED"
  | "INSUFFICIENT_STORAGE"
  | "UNAVAILABLE"
  | "TIMEOUT"
  | "INTERNAL";

/** An error for the client: a stable code and a sentence, independent of HTTP. */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: readonly Problem[],
    /** Id of the record that is missing, as the client sent it. */
    readonly missingId?: string,
  ) {
    super(message);
    this.name = "DomainError";
  }
}

/** The error for a request with invalid values; its message lists all of them. */
export function invalid(problems: readonly Problem[]): DomainError {
  const message = problems.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");
  return new DomainError("BAD_USER_INPUT", message, problems);
}

/** The message for a file that is too large, on both interfaces. @param bytes the limit */
export const fileLimitMessage = (bytes: number): string => `The file must be at most ${bytes} bytes.`;

/** The same error with its values at other paths. A sentence about several values together stays as it is. */
export function withPaths({ code, message, details = [] }: DomainError, pathOf: (path: string) => string) {
  const isTogether = details.length > 1 && !details.some(({ path }) => message.includes(`${path}: `));
  const moved = details.map((problem) => ({ ...problem, path: pathOf(problem.path) }));
  return code === "BAD_USER_INPUT" && !isTogether ? invalid(moved) : new DomainError(code, message, moved);
}

/** Completes the error about one of several values by the path of that value. @throws DomainError */
export function failAt(path: string, error: unknown): never {
  if (!(error instanceof DomainError) || error.details) throw error;
  throw new DomainError(error.code, error.message, [{ path, message: error.message }]);
}

/** Longest part of a value that a message repeats, in characters. */
const MAX_QUOTED = 60;

/** A value as sent, for a message: in quotes, shortened, and without control characters. Never use it for secrets. */
export function quoted(value: string): string {
  const text = JSON.stringify(value.slice(0, MAX_QUOTED));
  return value.length > MAX_QUOTED ? `${text.slice(0, -1)}…"` : text;
}

/** A number with its noun, such as "1 file" or "2 files". @param nouns the plural, if it is not formed with -s */
export const counted = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : nouns}`;

/**
 * The error for a record that does not exist or belongs to another organization; a client cannot tell the two apart.
 * @param id as the client sent it
 */
export function notFound(what: keyof typeof MISSING, id: string): DomainError {
  const [code, message]: readonly [ErrorCode, string] = MISSING[what];
  return new DomainError(
    code,
    message.replace("{}", () => quoted(id)),
    undefined,
    id,
  );
}

/** The message of a code for missing records, with an id; undefined for other codes. */
export const messageOfMissing = (wanted: ErrorCode, id: string): string | undefined =>
  Object.values(MISSING)
    .find(([code]) => code === wanted)?.[1]
    .replace("{}", quoted(id));

/** @throws DomainError as made by `notFound` */
export function missing(what: keyof typeof MISSING, id: string): never {
  throw notFound(what, id);
}

/** The part of an error that clients see. */
export interface PublicError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly Problem[];
}

const UNREACHABLE_MESSAGE =
  /Connection terminated|Timeout acquiring a connection|timeout expired|Query read timeout|Client has encountered a connection error|aborted/;

/** Errors of Citus without a code of their own: it has given an organization to another worker, or a node has just ended. */
const CITUS_MESSAGE =
  /^(shard for the given value does not exist|could not find valid entry for shard|postmaster was shut down|terminating connection due to unexpected postmaster exit|failure on connection marked as essential)/;

const OUT_OF_REACH: PublicError = {
  code: "UNAVAILABLE",
  message: "The database cannot be reached. Try again shortly.",
};

/** Public errors for codes of PostgreSQL (SQLSTATE) and of the operating system. */
const MAPPED_CODES: readonly (readonly [RegExp, PublicError])[] = [
  [/^(08...|28...|3D000|53[234]00|57P0[1-5])$/, OUT_OF_REACH], // away, or refuses a password that was just changed
  [NETWORK_FAILURES, OUT_OF_REACH],
  [/^25006$/, { code: "UNAVAILABLE", message: "The database is read-only. Try again shortly." }],
  [/^E[MN]FILE$/, { code: "UNAVAILABLE", message: "The server is out of file handles. Try again shortly." }],
  [
    /^57014$/,
    {
      code: "TIMEOUT",
      message: "The request took too long and was canceled. Ask for less at once, or try again.",
    },
  ],
  [
    /^(53100|ENOSPC|EDQUOT)$/,
    {
      code: "INSUFFICIENT_STORAGE",
      message: "The server's storage is full. The operator must free space on its disk.",
    },
  ],
  [
    /^22...$/,
    {
      code: "BAD_USER_INPUT",
      message: "The database cannot store one of the values sent. Check its numbers, dates and characters.",
    },
  ],
  [
    /^(40001|40P01|23...)$/,
    {
      code: "CONFLICT",
      message:
        "The request conflicts with another record or request. Read the record again, then repeat the request.",
    },
  ],
];

/** Whether a transaction lost to another one: serialization_failure or deadlock_detected. */
export const isLostToAnother = (error: unknown): boolean => /^(40001|40P01)$/.test(sqlStateOf(error));

/** The SQLSTATE of an error of PostgreSQL, or the code of another one. */
const sqlStateOf = (error: unknown): string => String((Object(error) as { code?: unknown }).code);

/** Attempts at work that ends in deadlocks. */
const DEADLOCK_TRIES = 3;
/** Longest pause between these attempts, in ms. */
const DEADLOCK_PAUSE_MS = 50;

/**
 * Runs a transaction, or a statement outside one, and again if PostgreSQL has ended it because of a deadlock: nothing is
 * left then. The pause, which differs between servers, lets the other transaction take the locks that it waits for.
 */
export async function againAfterDeadlock<R>(run: () => Promise<R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (sqlStateOf(error) !== "40P01" || tries === DEADLOCK_TRIES) throw error;
    }
    await pause((DEADLOCK_PAUSE_MS * (1 + Math.random())) / 2);
  }
}

/** Whether the same work can succeed a moment later: the database was away or busy, or two transactions collided. */
export function isTransient(error: unknown): boolean {
  return ["UNAVAILABLE", "TIMEOUT"].includes(publicError(error).code) || isLostToAnother(error);
}

/** Whether an error of the database or a network connection says that the other side cannot be reached. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof DomainError) && publicError(error) === OUT_OF_REACH;

/** The public form of an error: a domain error unchanged, a database or system error by its code, anything else INTERNAL. */
export function publicError(error: unknown): PublicError {
  if (error instanceof DomainError) {
    const { code, details } = error;
    const message = asInstalled(error.message);
    return details ? { code, message, details } : { code, message };
  }
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  if (typeof message === "string" && CITUS_MESSAGE.test(message)) return OUT_OF_REACH;
  for (const [pattern, mapped] of MAPPED_CODES)
    if (typeof code === "string" && pattern.test(code)) return mapped;
  if (typeof message === "string" && UNREACHABLE_MESSAGE.test(message)) return OUT_OF_REACH;
  return {
    code: "INTERNAL",
    message: "Internal server error. The server's log has the cause under the requestId.",
  };
}
