import { STATUS_CODES } from "node:http";
import { expect } from "@jest/globals";
import type { Answer } from "./api";

/** Expects an error as all paths return it: JSON with the usual fields, this status and, if given, this code. */
export function expectError(answer: Answer, status: number, code?: string): void {
  const { body, headers, text } = answer;
  expect({ status: answer.status, text }).toEqual({ status, text });
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(body).toEqual({
    statusCode: status,
    error: STATUS_CODES[status],
    message: expect.stringMatching(/\S/),
    code: code ?? expect.stringMatching(/^[A-Z][A-Z_]+$/),
    requestId: headers.get("x-request-id"),
    ...(body.details && { details: expect.any(Array) }),
  });
  for (const detail of body.details ?? [])
    expect(detail).toEqual({ path: expect.any(String), message: expect.stringMatching(/\S/) });
}

/** Expects that pages of any origin may read the answer, without cookies. */
export function expectOpenToAnyOrigin({ headers }: Answer): void {
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-allow-credentials")).toBeNull();
  for (const name of [
    ...["x-api-key", "authorization", "content-type", "idempotency-key", "x-public-key", "x-public-token"],
    ...["apollo-require-preflight", "x-apollo-operation-name"],
    ...["apollographql-client-name", "apollographql-client-version"],
    ...["x-request-id", "traceparent", "tracestate", "baggage"],
  ])
    expect(headers.get("access-control-allow-headers")?.toLowerCase().split(", ")).toContain(name);
}

/** Like `withoutRequest`, with `id` in place of a record's id, which messages quote as sent. */
export const withoutId = (outcome: unknown, id: string): unknown =>
  JSON.parse(JSON.stringify(outcome).replaceAll(id, "id"));

/** The part of an answer that must be the same for two missing records. */
export function withoutRequest({ status, headers, body }: Answer): unknown {
  const { "x-request-id": _, date: __, ...kept } = Object.fromEntries(headers);
  return { status, headers: kept, body: { ...body, requestId: "" } };
}
