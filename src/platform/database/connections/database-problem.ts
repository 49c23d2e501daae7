import { withoutStatement } from "./worker-problem";

/** SQLSTATEs of sessions that PostgreSQL ends. */
const ENDED = /^57P0[12]$/;
/**
 * What pg says about a connection that has broken off, and about statements on it. Other services explain their own
 * errors.
 */
const BROKEN =
  /Connection terminated|connection error and is not queryable|\b(read|write) (ECONNRESET|EPIPE)\b/;

/** An error about a connection that broke off at work, and what to do; undefined for other errors. */
export function databaseProblem(error: unknown): Error | undefined {
  const { code, message = "" } = Object(error) as Readonly<Record<string, string | undefined>>;
  if (!ENDED.test(String(code)) && !BROKEN.test(message)) return undefined;
  return new Error(
    `The connection to PostgreSQL broke off: ${withoutStatement(message)}. Check that PostgreSQL runs, then try again.`,
    { cause: error },
  );
}
