import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { ACCEPTED, accepting, decoded } from "../support/encodings";
import { newAssistant } from "../support/factories";
import { closeRaw, rawRequest } from "../support/raw";
import { form } from "../support/world";

const running = useApp();
const LONG = "Some words that repeat. ".repeat(400);
let assistantId: string;

beforeAll(async () => {
  assistantId = await newAssistant(running.api, {
    name: "Ada",
    description: LONG,
    variables: { long: LONG },
  });
});
afterAll(closeRaw);

const ask = (
  path: string,
  encodings: string | undefined,
  { method = "GET", headers = {}, body }: { method?: string; headers?: object; body?: string } = {},
) =>
  rawRequest(running.url, {
    method,
    path,
    headers: {
      "X-API-Key": running.secretKey,
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...accepting(encodings),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });

const graphql = (query: string) => ({ method: "POST", body: JSON.stringify({ query }) });

/** Long responses, each of its own kind. */
const LONG_RESPONSES: readonly (readonly [what: string, path: () => string, request?: object])[] = [
  ["a record", () => `/rest/v1/assistants/${assistantId}`],
  ["a list", () => "/rest/v1/assistants"],
  ["GraphQL", () => "/graphql", graphql("{ assistants { data { id description variables } } }")],
  ["the OpenAPI document", () => "/rest/openapi.json"],
  ["the landing page", () => "/", { headers: { Accept: "text/html" } }],
  ["an error page", () => "/nothing", { headers: { Accept: "text/html" } }],
  ["metrics", () => "/metrics"],
];

/** Responses without the parts that differ between two equal requests. */
const comparable = (bytes: Buffer) =>
  bytes
    .toString()
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>")
    .replaceAll(/^([a-z_]+(?:\{.*\})?) .*$/gm, "$1");

describe.each(LONG_RESPONSES)("%s", (_what, path, request = {}) => {
  test.each(ACCEPTED)("is compressed as the client accepts: %s", async (encodings, chosen) => {
    const plain = await ask(path(), undefined, request);
    const answer = await ask(path(), encodings, request);
    expect([answer.status, answer.headers["content-encoding"]]).toEqual([plain.status, chosen]);
    expect(answer.headers.vary).toMatch(/\bAccept-Encoding\b/);
    expect(plain.bytes.length).toBeGreaterThan(1024);
    if (path() !== "/metrics") expect(comparable(decoded(answer))).toBe(comparable(plain.bytes));
    if (chosen !== undefined) expect(answer.bytes.length).toBeLessThan(plain.bytes.length * 0.7);
  });
});

describe("responses that are never compressed", () => {
  const never = async (path: string, request = {}) => {
    const answer = await ask(path, "br, gzip", request);
    expect(answer.status).toBeLessThan(300);
    expect(answer.headers["content-encoding"]).toBeUndefined();
    expect(Number(answer.headers["content-length"])).toBe(answer.bytes.length);
    return answer;
  };

  test.each(["/health/live", "/rest/v1/organization/keys/public"])("short ones: %s", async (path) => {
    expect((await never(path)).bytes.length).toBeLessThan(1024);
  });

  test("downloads of files, whose length tells their progress", async () => {
    const file = await running.api.post("/rest/v1/files/upload", form("notes.txt", LONG), 201);
    const { url } = await running.api.get(`/rest/v1/files/${file.id}/download`, 200);
    const { pathname, search } = new URL(url as string);
    const answer = await never(pathname + search);
    expect(answer.text).toBe(LONG);
  });

  test("those that disclose a secret, also when they are repeated", async () => {
    const body = JSON.stringify({
      name: LONG.slice(0, 200),
      url: "https://example.com",
      secret: LONG.slice(0, 2000),
    });
    const request = { method: "POST", body, headers: { "Idempotency-Key": "destination" } };
    for (const replayed of [undefined, "true"]) {
      const answer = await never("/rest/v1/settings", request);
      expect(answer.headers["idempotency-replayed"]).toBe(replayed);
      expect(answer.headers["cache-control"]).toBe("no-store, no-transform");
    }
    const secrets = await never("/graphql", graphql("{ webhookDestinations { name secret } }"));
    expect(secrets.text).toContain(LONG.slice(0, 2000));
    const names = await ask(
      "/graphql",
      "gzip",
      graphql(`
        {
          assistants {
            data {
              description
            }
          }
        }
      `),
    );
    expect(names.headers["content-encoding"]).toBe("gzip");
  });
});

test("HEAD has the headers of GET without compression, and no body", async () => {
  const { status, headers, bytes } = await ask("/rest/openapi.json", "gzip", { method: "HEAD" });
  expect([status, bytes.length, headers["content-encoding"]]).toEqual([200, 0, undefined]);
});
