import { STATUS_CODES } from "node:http";
import { expect } from "@jest/globals";
import type { Answer } from "./api";

/** An error as every path answers it: JSON of the decided shape, with the status and, if given, the code. */
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

/** Any page may read it, and none with cookies. */
export function expectOpenToAnyOrigin({ headers }: Answer): void {
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-allow-credentials")).toBeNull();
  for (const name of [
    ...["x-api-key", "authorization", "content-type", "idempotency-key", "x-public-key", "x-public-token"],
    ...["apollo-require-preflight", "x-apollo-operation-name"],
  ])
    expect(headers.get("access-control-allow-headers")?.toLowerCase()).toContain(name);
}

/** The same with `id` in place of the id of a record, which messages quote as it was sent. */
export const withoutId = (outcome: unknown, id: string): unknown =>
  JSON.parse(JSON.stringify(outcome).replaceAll(id, "id"));

/** Everything of an answer that two requests for two missing records must have in common. */
export function withoutRequest({ status, headers, body }: Answer): unknown {
  const { "x-request-id": _, date: __, ...kept } = Object.fromEntries(headers);
  return { status, headers: kept, body: { ...body, requestId: "" } };
}
