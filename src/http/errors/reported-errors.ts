import type { ServerResponse } from "node:http";
import { Attached } from "../../platform/attached";
import type { ErrorCode } from "../../platform/errors";
import { STATUS } from "./error-body";

/**
 * Errors after which the same request can succeed, with the seconds that a client should wait. A rate limit sets the
 * header itself if it knows when it admits the next request.
 */
const PAUSE_SECONDS: Partial<Record<ErrorCode, number>> = {
  RATE_LIMITED: 1,
  REQUEST_IN_PROGRESS: 2,
  UNAVAILABLE: 2,
  TIMEOUT: 2,
};

/** The codes of errors with which a response has the header Retry-After. */
export const RETRIED = Object.keys(PAUSE_SECONDS) as ErrorCode[];

/** The codes with a 5xx status: the server has failed, not the client. */
export const SERVER_FAILURES = (Object.keys(STATUS) as ErrorCode[]).filter((code) => STATUS[code] >= 500);

/** Sets Retry-After if repeating the request can help. A longer pause that is already set stays. */
export function askToRetry(res: ServerResponse, codes: readonly string[]): void {
  const pauses = codes.map((code) => PAUSE_SECONDS[code as ErrorCode] ?? 0);
  const seconds = Math.max(0, ...pauses);
  if (seconds > Number(res.getHeader("Retry-After") ?? 0)) res.setHeader("Retry-After", String(seconds));
}

const failures = new Attached<ErrorCode>();

/** Notes the errors in a response whose status does not show them, before its headers are sent. */
export function noteErrors(res: ServerResponse, codes: readonly string[]): void {
  askToRetry(res, codes);
  failures.set(
    res,
    SERVER_FAILURES.find((failure) => codes.includes(failure)),
  );
}

/** The code of a failure of the server that `noteErrors` has found in a response. */
export const failureOf = (res: ServerResponse): ErrorCode | undefined => failures.get(res);
