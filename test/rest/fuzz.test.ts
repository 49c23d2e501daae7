import { STATUS_CODES } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { routes } from "../../rest-compat/routes/index";
import { useApp } from "../support/app";
import { hostileJson, hostileSegment, hostileValue } from "../support/hostile";
import { closeRaw, rawRequest, type RawAnswer } from "../support/raw";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface FuzzRequest {
  readonly segments: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const RUNS = Number(process.env.FUZZ_RUNS ?? 12);
const running = useApp();
const ids: Record<string, string[]> = {};
let document: Document;

beforeAll(async () => {
  const { api } = running;
  document = (await api.get("/rest/openapi.json", 200)) as Document;
  const assistant = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
  const key = await api.post("/rest/v1/organization/keys", {}, 200);
  const webhook = await api.post("/rest/v1/settings", { url: "https://example.com", secret: "s" }, 201);
  const chat = await api.gql("mutation ($id: ID!) { startChat(input: { assistantId: $id }) { id } }", {
    id: assistant.id,
  });
  const form = new FormData();
  form.set("file", new Blob(["text"]), "a.txt");
  const file = await api.post("/rest/v1/files/upload", form, 201);
  ids.keyId = [key.id];
  ids.assistantId = [assistant.id];
  ids.aiChatId = ids.logId = [chat.startChat.id];
  ids.id = [assistant.id, webhook.id, file.id];
});
afterAll(closeRaw);

const resolved = (schema: Schema): Schema =>
  schema.$ref ? document.components.schemas[schema.$ref.split("/").pop()!]! : schema;

/** A value that is mostly valid: the schema's example, an enum value, or a plain value of its type. */
function fitting(name: string, schema: Schema): fc.Arbitrary<unknown> {
  const { enum: values, examples = [], type } = resolved(schema);
  const plain: Readonly<Record<string, unknown>> = {
    string: "text",
    number: 1,
    integer: 1,
    boolean: true,
    object: { a: 1 },
    array: [{ name: "f" }],
  };
  const bare = String(Array.isArray(type) ? type[0] : type);
  return fc.constantFrom<unknown>(...(values ?? [plain[bare] ?? "", ...examples, ...(ids[name] ?? [])]));
}

/** A JSON body: the schema's fields, some missing, some hostile, some unknown. */
function jsonBody(schema: Schema): fc.Arbitrary<string> {
  const field = (name: string, of: Schema) =>
    fc.oneof({ weight: 3, arbitrary: fitting(name, of) }, { weight: 2, arbitrary: hostileValue });
  const properties = Object.entries(resolved(schema).properties ?? {});
  const known = Object.fromEntries(properties.map(([name, of]) => [name, field(name, of)]));
  const object = fc
    .tuple(
      fc.record(known, { requiredKeys: [] }),
      fc.option(fc.tuple(fc.constantFrom("nam", "__proto__", "", "🎉", "constructor"), hostileValue)),
    )
    .map(([body, unknown]) =>
      hostileJson(Object.fromEntries([...Object.entries(body), ...(unknown ? [unknown] : [])])),
    );
  const broken = fc.constantFrom("", "{", '{"a":}', "\0", "nul", "\ufeff{}", '{"a":1,}', "<a/>", "{}{}");
  return fc.oneof(
    { weight: 6, arbitrary: object },
    { weight: 1, arbitrary: hostileValue.map(hostileJson) },
    { weight: 1, arbitrary: broken },
  );
}

/** A form: valid, without its parts, with unusual ones, or malformed. Its boundary is `x`. */
const formBody: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constant('name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello'),
      fc.constant('name="file"\r\n\r\nhello'),
      fc.constant('name="__proto__"\r\n\r\n1'),
      fc.constant("\r\n\r\n"),
      hostileValue.map((value) => `name="metadata"\r\n\r\n${hostileJson(value)}`),
      hostileSegment.map((name) => `name="file"; filename="${name}"\r\n\r\n%PDF-1.7`),
    ),
    { maxLength: 4 },
  )
  .chain((parts) =>
    fc
      .constantFrom("--x--\r\n", "", "--x")
      .map((end) => parts.map((part) => `--x\r\nContent-Disposition: form-data; ${part}\r\n`).join("") + end),
  );

const mostly = <T>(usual: T, ...odd: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });

/** The credential and the other headers that a client might send. */
function headersFor(type: string): fc.Arbitrary<Record<string, string>> {
  const types = mostly(type, "text/plain", "application/json; charset=utf-16", "multipart/form-data", ";");
  const credentials = mostly<Record<string, string>>(
    { "X-API-Key": running.secretKey },
    {},
    { "X-API-Key": running.publicKey },
    { "X-API-Key": "parley_sk_x" },
    { Authorization: "Bearer a.b.c" },
    { Authorization: "Basic eA==" },
  );
  const idempotency = mostly("", "once", "\u00e9", "x".repeat(300), " ");
  const encoding = mostly("", "gzip", "br", "identity", "x");
  return fc.tuple(types, credentials, idempotency, encoding).map(([type, credential, once, encoding]) => ({
    ...credential,
    "Content-Type": type,
    ...(once && { "Idempotency-Key": once }),
    ...(encoding && { "Content-Encoding": encoding }),
  }));
}

function requestsFor({ parameters = [], requestBody }: Operation): fc.Arbitrary<FuzzRequest> {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const segment = (name: string) =>
    fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...(ids[name] ?? ["x"])) }, hostileSegment);
  const pair = fc
    .constantFrom(...inQuery.map(({ name }) => name), "unknown", "__proto__")
    .chain((name) =>
      fc
        .oneof(fc.constantFrom("1", "20", "asc", "desc", "TEXT", "hello"), hostileSegment)
        .map((value) => [name, value] as const),
    );
  const [type = "application/json", content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const isForm = type.startsWith("multipart");
  return fc.record({
    segments: fc.record(Object.fromEntries(inPath.map(({ name }) => [name, segment(name)]))),
    query: fc.array(pair, { maxLength: 4 }),
    body: isForm ? formBody : jsonBody(content?.schema ?? {}),
    headers: headersFor(isForm ? `${type}; boundary=x` : type),
  });
}

function expectDecided({ status, headers, text }: RawAnswer, { responses }: Operation): void {
  expect(Object.keys(responses)).toContain(String(status));
  expect([500, 503]).not.toContain(status);
  expect(headers["content-type"]).toMatch(/^application\/json/);
  const body = JSON.parse(text) as Record<string, unknown>;
  if (status < 400) return;
  const { details, ...rest } = body;
  expect(rest).toEqual({
    statusCode: status,
    error: STATUS_CODES[status],
    message: expect.stringMatching(/\S/),
    code: expect.stringMatching(/^[A-Z_]+$/),
    requestId: headers["x-request-id"],
  });
  if (rest.code === "BAD_USER_INPUT" || details !== undefined) expectDetails(details);
}

function expectDetails(details: unknown): void {
  expect(details).not.toHaveLength(0);
  for (const detail of details as unknown[])
    expect(detail).toEqual({ path: expect.any(String), message: expect.stringMatching(/\S/) });
}

describe("every route answers any request with a documented status, in JSON, and never with 5xx", () => {
  test.each(routes.map(({ id }) => id))("%s", async (id) => {
    const [path, method, operation] = Object.entries(document.paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([verb, found]) => [path, verb, found] as const),
      )
      .find(([, , { operationId }]) => operationId === id)!;
    // A failure reports the seed and path that reproduce it.
    await fc.assert(
      fc.asyncProperty(requestsFor(operation), async ({ segments, query, body, headers }) => {
        const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segments[name]!);
        const search = query.map(([name, value]) => `${name}=${value}`).join("&");
        const answer = await rawRequest(running.url, {
          method: method.toUpperCase(),
          path: search ? `${filled}?${search}` : filled,
          headers,
          ...(method !== "get" && { body }),
        });
        expectDecided(answer, operation);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  });

  test("the server is healthy afterwards", async () => {
    await running.api.get("/health/ready", 200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
