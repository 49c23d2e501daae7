/** An invalid value of a request. */
export interface ErrorDetail {
  /** Names and indexes separated by dots, such as `input.variables.name`. */
  readonly path: string;
  readonly message: string;
}

/** An error as the service sends it. */
export interface ErrorFields {
  readonly code: string;
  /** HTTP status; absent if the request was not answered, or the error stands in an answer with status 200. */
  readonly status?: number | undefined;
  readonly details?: readonly ErrorDetail[] | undefined;
  /** Id under which the server logs the request. */
  readonly requestId?: string | undefined;
  /** The path of the field that failed, in GraphQL. */
  readonly path?: readonly (string | number)[] | undefined;
  /** The result of a GraphQL operation that failed in part; null if it failed as a whole. */
  readonly data?: unknown;
  /** All errors of a GraphQL operation. The first is also the error that is thrown. */
  readonly errors?: readonly GraphQLErrorFields[] | undefined;
}

/** An error in an answer of GraphQL. */
export interface GraphQLErrorFields {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: {
    readonly code?: string;
    readonly details?: readonly ErrorDetail[];
    readonly requestId?: string;
  };
}

/**
 * A refusal by the service, or a failure on the way to it. `code` is one of the service's error codes, or one of these:
 * NETWORK (no response), TIMEOUT (none in time), INVALID_RESPONSE (not one of Parley), INVALID_WEBHOOK.
 */
export class ParleyError extends Error implements ErrorFields {
  override readonly name = "ParleyError";
  declare readonly code: string;
  declare readonly status?: ErrorFields["status"];
  declare readonly details?: ErrorFields["details"];
  declare readonly requestId?: ErrorFields["requestId"];
  declare readonly path?: ErrorFields["path"];
  declare readonly data?: unknown;
  declare readonly errors?: ErrorFields["errors"];

  constructor(message: string, { cause, ...fields }: ErrorFields & ErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    // Absent fields stay absent, so that a printed error is short.
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true });
  }
}

/** The error of a GraphQL result that has errors. */
export function graphQLError(
  errors: readonly GraphQLErrorFields[],
  { data = null, status }: { readonly data?: unknown; readonly status?: number } = {},
): ParleyError {
  const [{ message, path, extensions } = { message: "The answer has no data." } as GraphQLErrorFields] =
    errors;
  const { code = "INTERNAL", details, requestId } = extensions ?? {};
  return new ParleyError(message, { code, details, requestId, path, data, errors, status });
}
