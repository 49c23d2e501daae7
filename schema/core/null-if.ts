import { DomainError, type ErrorCode } from "../../src/platform/errors";

/** Null instead of one error. */
export const nullIf =
  (code: ErrorCode) =>
  (error: unknown): null => {
    if (error instanceof DomainError && error.code === code) return null;
    throw error;
  };
