import { getNamedType, GraphQLInt, isNonNullType } from "graphql";
import { admit } from "../schema/core/access";
import type { Caller } from "../src/account/auth/caller";
import {
  fileLimitMessage,
  messageOfMissing,
  publicError,
  type ErrorCode,
  type PublicError,
} from "../src/platform/errors";
import { bodyLimitMessage, FORM_EXPECTED, JSON_EXPECTED, MAX_BODY_BYTES, unreadable } from "./body";
import { authenticationRequired } from "./caller-for";
import type { CompiledRoute, Operation } from "./compile";
import { exampleOf } from "./examples";
import { decoded } from "./match";
import { MULTIPART_EXPECTED } from "./upload";
import { readVariables, type Inputs } from "./variables";

/** Default of MAX_FILE_BYTES. */
const MAX_FILE_BYTES = 25 * 1024 * 1024;
const NOT_UTF8 = "%FF";

/** Messages by code, or by the id of a route and code. A test compares them with real answers. */
const MESSAGES: Readonly<Record<string, string>> = {
  "getPublicKey.KEY_NOT_FOUND": "The organization has no active PUBLIC key. Create one of type PUBLIC.",
  REQUEST_IN_PROGRESS: "A request with this Idempotency-Key is still running. Repeat it after a few seconds.",
  IDEMPOTENCY_KEY_REUSED:
    "This Idempotency-Key was used for another request. Use a new key for each request.",
  PRECONDITION_FAILED:
    "The record has another ETag than If-Match names, because it has changed since it was read. Read it again, then repeat the request with its new ETag.",
  RATE_LIMITED: "More than 600 requests in a second. Try again in a second.",
  FORBIDDEN:
    "The signature does not match this number's account. Check its auth token (updateTelephonyConnection) and PUBLIC_BASE_URL, which is part of the signed URL.",
};

/** System errors that become these codes. */
const SYSTEM_ERRORS: Readonly<Partial<Record<ErrorCode, string>>> = {
  UNAVAILABLE: "ECONNREFUSED",
  INSUFFICIENT_STORAGE: "ENOSPC",
  INTERNAL: "unknown",
};

/** A request that a route refuses because of a value in it. Without fields, the path parameters are at fault. */
export interface BadRequest {
  readonly query?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/**
 * A request that the route refuses with BAD_USER_INPUT; undefined if it has no value to check.
 * @param valid the example of the route's body
 */
export function badRequestOf(
  { body, omit = [], operation }: CompiledRoute,
  valid: unknown,
): BadRequest | undefined {
  if (!operation) return undefined;
  const { input, variables } = operation;
  if (body === "multipart") return { body: {} };
  if (input) {
    const fields = Object.values(input.getFields()).filter(({ name }) => !omit.includes(name));
    const required = fields.find(
      ({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined,
    );
    if (!required) return { body: { [fields[0]!.name]: 7 } };
    const { [required.name]: _, ...others } = valid as Record<string, unknown>;
    return { body: others };
  }
  const number = variables.find(({ type, from }) => from === "query" && getNamedType(type) === GraphQLInt);
  return number && { query: `${number.name}=0` };
}

/** The example of an error of a route, made by the code that answers requests. */
export function exampleError(route: CompiledRoute, code: ErrorCode, valid: unknown): PublicError {
  const { id, auth, operation } = route;
  if (code === "BAD_USER_INPUT") return thrownBy(() => readBadly(route, valid));
  if (code === "UNAUTHENTICATED" && auth !== "none") return publicError(authenticationRequired(auth));
  if (code === "FORBIDDEN" && operation)
    return thrownBy(() => admit(operation.access, strangerTo(operation)));
  const system = SYSTEM_ERRORS[code];
  if (system !== undefined) return publicError({ code: system });
  const known = MESSAGES[`${id}.${code}`] ?? MESSAGES[code];
  const missing = known === undefined ? messageOfMissing(code, String(exampleOf("", "id"))) : undefined;
  const message = known ?? missing ?? refusalOf(route, code);
  const path = missing === undefined ? undefined : fieldOfRecord(operation, code);
  return { code, message, ...(path !== undefined && { details: [{ path, message }] }) };
}

/** The required field of the body that names the record of a code, such as `aiChatId` for CHAT_NOT_FOUND. */
function fieldOfRecord(operation: Operation | undefined, code: ErrorCode): string | undefined {
  const record = code.replace(/_NOT_FOUND$/, "").replaceAll("_", "");
  const isId = (name: string) => name.toUpperCase().endsWith(`${record}ID`);
  return Object.values(operation?.input?.getFields() ?? {}).find(
    ({ name, type }) => isNonNullType(type) && isId(name),
  )?.name;
}

function refusalOf({ id, body, bodyLimit = MAX_BODY_BYTES }: CompiledRoute, code: ErrorCode): string {
  const isUpload = body === "multipart";
  if (code === "PAYLOAD_TOO_LARGE")
    return isUpload ? fileLimitMessage(MAX_FILE_BYTES) : bodyLimitMessage(bodyLimit);
  if (code === "UNSUPPORTED_MEDIA_TYPE")
    return isUpload ? MULTIPART_EXPECTED : body === "form" ? FORM_EXPECTED : JSON_EXPECTED;
  throw new Error(`rest-compat/error-examples.ts has no message for ${code} of the route ${id}`);
}

function readBadly(route: CompiledRoute, valid: unknown): void {
  const { path, operation, stream } = route;
  if (stream !== undefined || !operation) throw unreadable();
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const bad = badRequestOf(route, valid);
  if (!bad) decoded(names[0] ?? "x", NOT_UTF8);
  const params = Object.fromEntries(names.map((name) => [name, String(exampleOf("", name))]));
  const inputs: Inputs = { params, query: new URLSearchParams(bad?.query), body: bad?.body, form: {} };
  readVariables(route, operation, inputs, false);
}

/** A caller whose credential does not admit it to the operation. */
const strangerTo = ({ access }: Operation): Caller => ({
  organizationId: "",
  kind: access.rule === "page" ? "VISITOR" : "PUBLIC",
});

function thrownBy(refuse: () => void): PublicError {
  try {
    refuse();
  } catch (error) {
    return publicError(error);
  }
  throw new Error("The example of an error is no error: the request is valid.");
}
