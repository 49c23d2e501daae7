import { STATUS_CODES } from "node:http";
import type { ErrorCode, PublicError } from "../../platform/errors";

/** HTTP status of each error code. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  BAD_USER_INPUT: 400,
  MISSING_VARIABLES: 400,
  ASSISTANT_NOT_FOUND: 400,
  WORKFLOW_NOT_FOUND: 400,
  DEPLOYMENT_NOT_FOUND: 400,
  DRAFT_NOT_FOUND: 400,
  PERSISTED_QUERY_NOT_IN_LIST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  TEMPLATE_READ_ONLY: 403,
  QUOTA_EXCEEDED: 403,
  CHAT_NOT_FOUND: 404,
  LOG_NOT_FOUND: 404,
  KEY_NOT_FOUND: 404,
  WEBHOOK_DESTINATION_NOT_FOUND: 404,
  EVENT_NOT_FOUND: 404,
  DELIVERY_NOT_FOUND: 404,
  PROJECT_NOT_FOUND: 404,
  FUNCTION_NOT_FOUND: 404,
  TOOL_SERVER_NOT_FOUND: 404,
  VERSION_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  FILE_CONTENT_MISSING: 404,
  CALL_NOT_FOUND: 404,
  WORKFLOW_NODE_NOT_FOUND: 404,
  WORKFLOW_EDGE_NOT_FOUND: 404,
  TELEPHONY_CONNECTION_NOT_FOUND: 404,
  ERASURE_NOT_FOUND: 404,
  NODE_NOT_FOUND: 404,
  EXPORT_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CHAT_ENDED: 409,
  CHAT_LIVE: 409,
  CHANNEL_DISABLED: 409,
  WEBHOOK_DESTINATION_DISABLED: 409,
  WORKFLOW_HAS_PROBLEMS: 409,
  DEPLOYMENT_NOT_CALLABLE: 409,
  CONFLICT: 409,
  VERSION_CONFLICT: 409,
  REQUEST_IN_PROGRESS: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  NOT_IMPLEMENTED: 501,
  UNAVAILABLE: 503,
  TIMEOUT: 503,
  INSUFFICIENT_STORAGE: 507,
};

/** The body of every error. */
export interface ErrorBody extends PublicError {
  readonly statusCode: number;
  /** The reason phrase of the status. */
  readonly error: string;
  readonly requestId: string;
}

export function errorBody(
  { code, message, details }: PublicError,
  statusCode: number,
  requestId: string,
): ErrorBody {
  return {
    statusCode,
    error: STATUS_CODES[statusCode] ?? "Error",
    message,
    code,
    requestId,
    ...(details && { details }),
  };
}

/** The error, with status 431, for a request line and headers beyond the limit. */
export const HEAD_TOO_LONG: PublicError = {
  code: "PAYLOAD_TOO_LARGE",
  message: "The request line and headers exceed 16 KiB. Shorten the URL, or send fewer headers.",
};
