import { withoutStatement, workerProblem } from "./worker-problem";

/** SQLSTATEs of sessions that PostgreSQL ends. */
const ENDED = /^57P0[12]$/;
/**
 * Messages of pg about a broken connection and about statements on it, and of Citus about a coordinator that has ended.
 * Errors of other services explain themselves.
 */
const BROKEN =
  /Connection terminated|^(.* - )?postmaster was shut down|connection error and is not queryable|\b(read|write) (ECONNRESET|EPIPE)\b/;

const explanations = new WeakSet<object>();

/** Whether an error says already what is wrong and what to do. */
export const isExplained = (error: unknown): error is Error => explanations.has(Object(error) as object);

/** Makes an error that says what is wrong and what to do. */
export function explanationOf(message: string, cause: unknown): Error {
  const error = new Error(message, { cause });
  explanations.add(error);
  return error;
}

/** SQLSTATE of a disk without space. */
const DISK_FULL = "53100";

/**
 * An error about a worker of Citus, a connection that broke off at work, or a full disk, and what to do; undefined for other
 * errors.
 */
export function databaseProblem(error: unknown): Error | undefined {
  if (isExplained(error)) return error;
  const message = workerProblem(error)?.message ?? messageFor(error);
  return message === undefined ? undefined : explanationOf(message, error);
}

function messageFor(error: unknown): string | undefined {
  const { code, message = "" } = Object(error) as Readonly<Record<string, string | undefined>>;
  if (code === DISK_FULL)
    return `The disk of PostgreSQL is full (${withoutStatement(message)}). Free space on it, then try again.`;
  if (!ENDED.test(String(code)) && !BROKEN.test(message)) return undefined;
  return `The connection to PostgreSQL broke off: ${withoutStatement(message)}. Check that PostgreSQL runs, then try again.`;
}
