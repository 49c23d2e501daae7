import { withoutStatement } from "./worker-problem";

/** SQLSTATEs of sessions that PostgreSQL ends. */
const ENDED = /^57P0[12]$/;
/**
 * What pg says about a connection that has broken off, and about statements on it. Other services explain their own
 * errors.
 */
const BROKEN =
  /Connection terminated|connection error and is not queryable|\b(read|write) (ECONNRESET|EPIPE)\b/;

/** Errors that say already what is wrong and what to do. */
const problems = new WeakSet<object>();

/** SQLSTATE of a disk without space. */
const DISK_FULL = "53100";

/** An error about a connection that broke off at work, or about a full disk, and what to do; undefined for other errors. */
export function databaseProblem(error: unknown): Error | undefined {
  if (problems.has(Object(error) as object)) return error as Error;
  const message = messageFor(error);
  if (message === undefined) return undefined;
  const problem = new Error(message, { cause: error });
  problems.add(problem);
  return problem;
}

function messageFor(error: unknown): string | undefined {
  const { code, message = "" } = Object(error) as Readonly<Record<string, string | undefined>>;
  if (code === DISK_FULL)
    return `The disk of PostgreSQL is full (${withoutStatement(message)}). Free space on it, then try again.`;
  if (!ENDED.test(String(code)) && !BROKEN.test(message)) return undefined;
  return `The connection to PostgreSQL broke off: ${withoutStatement(message)}. Check that PostgreSQL runs, then try again.`;
}
