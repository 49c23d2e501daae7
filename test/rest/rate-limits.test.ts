import { afterAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { closeRaw, rawRequest, type RawAnswer } from "../support/raw";

const ORGANIZATION = 5;
const ANONYMOUS = 2;
const running = useApp({
  TRUST_PROXY: "127.0.0.1",
  RATE_LIMIT_ORGANIZATION: String(ORGANIZATION),
  RATE_LIMIT_ANONYMOUS: String(ANONYMOUS),
});
afterAll(closeRaw);

let clients = 0;
/** An unused client address behind the proxy. */
const newAddress = () => `203.0.113.${++clients}`;
const ask = (headers: Record<string, string>, path = "/rest/v1/organization") =>
  rawRequest(running.url, { path, headers });
const from = (address: string, key?: string) => ({
  "X-Forwarded-For": address,
  ...(key && { "X-API-Key": key }),
});
const atOnce = (count: number, one: () => Promise<RawAnswer>) =>
  Promise.all(Array.from({ length: count }, one));
const statuses = (answers: readonly RawAnswer[]) => new Set(answers.map(({ status }) => status));

describe("rate limits", () => {
  test("do not apply to callers on this machine, which get no headers", async () => {
    const answers = await atOnce(50, () => ask({ "X-API-Key": running.secretKey }));
    expect(statuses(answers)).toEqual(new Set([200]));
    expect(answers[0]!.headers).not.toHaveProperty("ratelimit");
  });

  test("send the policy and the remaining requests in each response", async () => {
    const { secretKey } = await running.otherOrganization();
    const first = await ask(from(newAddress(), secretKey));
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({
      "ratelimit-policy": `"organization";q=${ORGANIZATION};w=1`,
      ratelimit: expect.stringMatching(/^"organization";r=4;t=[01]$/),
    });
  });

  test("return 429 with Retry-After to an organization beyond its limit, from any address, and not to others", async () => {
    const one = await running.otherOrganization();
    const two = await running.otherOrganization();
    const answers = await atOnce(40, () => ask(from(newAddress(), one.secretKey)));
    expect(statuses(answers)).toEqual(new Set([200, 429]));
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.headers).toMatchObject({
      "retry-after": expect.stringMatching(/^1$/),
      "ratelimit-policy": `"organization";q=${ORGANIZATION};w=1`,
      ratelimit: expect.stringMatching(/^"organization";r=0;t=[01]$/),
      "content-type": expect.stringMatching(/^application\/json/),
      "access-control-allow-origin": "*",
    });
    expect(JSON.parse(refused.text)).toEqual({
      statusCode: 429,
      error: "Too Many Requests",
      code: "RATE_LIMITED",
      message: expect.any(String),
      requestId: refused.headers["x-request-id"],
    });
    expect((await ask(from(newAddress(), two.secretKey))).status).toBe(200);
  });

  test("return 429 to an anonymous address beyond its limit, including wrong keys, and not to other addresses", async () => {
    const address = newAddress();
    const answers = await atOnce(20, () => ask(from(address)));
    const guesses = await atOnce(20, () => ask(from("203.0.113.250", "a wrong key")));
    for (const found of [answers, guesses]) expect(statuses(found)).toEqual(new Set([401, 429]));
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.headers).toMatchObject({
      "retry-after": "1",
      "ratelimit-policy": `"anonymous";q=${ANONYMOUS};w=1`,
    });
    expect((await ask(from(newAddress()))).status).toBe(401);
  });

  test("accept requests of a rejected organization again after Retry-After", async () => {
    const { secretKey } = await running.otherOrganization();
    const answers = await atOnce(20, () => ask(from(newAddress(), secretKey)));
    const refused = answers.find(({ status }) => status === 429)!;
    await new Promise((resolve) => setTimeout(resolve, Number(refused.headers["retry-after"]) * 1_000));
    expect((await ask(from(newAddress(), secretKey))).status).toBe(200);
  });

  test("apply to GraphQL too, in JSON", async () => {
    const { secretKey } = await running.otherOrganization();
    const path = `/graphql?query=${encodeURIComponent("{ __typename }")}`;
    const answers = await atOnce(20, () =>
      ask({ ...from(newAddress(), secretKey), Accept: "application/json" }, path),
    );
    expect(statuses(answers)).toEqual(new Set([200, 429]));
    expect(JSON.parse(answers.find(({ status }) => status === 429)!.text)).toMatchObject({
      code: "RATE_LIMITED",
    });
  });
});
