import { getNamedType, type GraphQLSchema, isObjectType, type FieldNode } from "graphql";
import { STATUS_CODES } from "node:http";
import { HEAD_TOO_LONG, STATUS } from "../src/http/errors/error-body";
import type { ErrorCode, PublicError } from "../src/platform/errors";
import type { CompiledRoute, Operation } from "./compile";
import { badRequestOf, exampleError } from "./error-examples";
import { exampleOf } from "./examples";
import type { JsonSchema } from "./json-schema";

/** Schema of the error body. */
export const ERROR: JsonSchema = {
  type: "object",
  description: "The body of every error.",
  properties: {
    statusCode: { type: "integer", description: "The HTTP status.", examples: [400] },
    error: { type: "string", description: "The HTTP status as text.", examples: ["Bad Request"] },
    message: {
      type: "string",
      description: "What is wrong, as a sentence.",
      examples: ["name: is required"],
    },
    code: {
      type: "string",
      description: "A stable code for programs.",
      enum: Object.keys(STATUS),
      examples: ["BAD_USER_INPUT"],
    },
    requestId: {
      type: "string",
      description: "Also in the header X-Request-Id and in the server's log.",
      examples: [exampleOf("", "id")],
    },
    details: {
      type: "array",
      description: "The invalid values, by path.",
      items: {
        type: "object",
        properties: { path: { type: "string" }, message: { type: "string" } },
        required: ["path", "message"],
      },
      examples: [[{ path: "name", message: "is required" }]],
    },
  },
  required: ["statusCode", "error", "message", "code", "requestId"],
};

/** Error codes of a route by status: the common ones, and those in its operation's description. */
export function failuresOf(
  { operation, stream, refuses = [], auth, method, body }: CompiledRoute,
  schema: GraphQLSchema,
): [status: number, codes: ErrorCode[]][] {
  const codes = new Set<ErrorCode>(["RATE_LIMITED", "INTERNAL", "UNAVAILABLE"]);
  if (auth !== "none") codes.add("UNAUTHENTICATED").add("FORBIDDEN");
  if (stream) codes.add("BAD_USER_INPUT").add("PAYLOAD_TOO_LARGE").add("UNSUPPORTED_MEDIA_TYPE");
  else if (!operation) codes.add("NOT_IMPLEMENTED");
  else {
    codes.add("BAD_USER_INPUT");
    if (operation.input || body) codes.add("PAYLOAD_TOO_LARGE").add("UNSUPPORTED_MEDIA_TYPE");
    if (method === "post") codes.add("REQUEST_IN_PROGRESS").add("IDEMPOTENCY_KEY_REUSED");
    if (method === "patch" || method === "delete") codes.add("PRECONDITION_FAILED");
    for (const code of namedErrors(operation, schema)) codes.add(code);
    codes.delete("PROJECT_NOT_FOUND"); // requests of this interface name no project
  }
  for (const code of refuses) codes.add(code);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus].sort(([a], [b]) => a - b);
}

/** Every error code of the interface. */
export const codesOf = (routes: readonly CompiledRoute[], schema: GraphQLSchema): ReadonlySet<ErrorCode> =>
  new Set([
    ...routes.flatMap((route) => failuresOf(route, schema).flatMap(([, codes]) => codes)),
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
  ]);

function namedErrors({ definition }: Operation, schema: GraphQLSchema): ErrorCode[] {
  const found: ErrorCode[] = [];
  let parent = schema.getRootType(definition.operation);
  let field = definition.selectionSet.selections[0] as FieldNode | undefined;
  while (field && parent) {
    const { description, type } = parent.getFields()[field.name.value]!;
    const named = /Errors: .*/s.exec(description ?? "")?.[0].match(/[A-Z_]{4,}/g) ?? [];
    found.push(...(named.filter((code) => code in STATUS) as ErrorCode[]));
    const next = getNamedType(type);
    parent = isObjectType(next) ? next : undefined;
    field =
      field.alias?.value === "result"
        ? undefined
        : (field.selectionSet?.selections[0] as FieldNode | undefined);
  }
  return found;
}

/** The response to a request line and headers beyond the limit, on every path. It has no headers of its own. */
export const headTooLong = (): JsonSchema => responseOf(431, [HEAD_TOO_LONG.code], HEAD_TOO_LONG);

/** The OpenAPI response for a status with these codes. @param body the example of the request's body */
export function failure(
  route: CompiledRoute,
  status: number,
  codes: readonly ErrorCode[],
  body: unknown,
): JsonSchema {
  const isChecked = !route.operation || badRequestOf(route, body) !== undefined;
  const shown = codes.find((code) => code !== "BAD_USER_INPUT" || isChecked) ?? codes[0]!;
  return responseOf(status, codes, { ...exampleError(route, shown, body), code: shown });
}

function responseOf(
  status: number,
  codes: readonly ErrorCode[],
  { code, message, details }: PublicError,
): JsonSchema {
  const error = STATUS_CODES[status] ?? "Error";
  const example = {
    statusCode: status,
    error,
    message,
    code,
    requestId: exampleOf("", "id"),
    ...(details && { details }),
  };
  return {
    description: `${error}: ${codes.join(", ")}`,
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" }, example } },
  };
}
