import { beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { createDatabase, statement } from "../support/database";
import { newAssistant, newChat, quietAssistant } from "../support/factories";
import { samplesOf, valueOf } from "../support/metrics";
import {
  afterTests,
  preparedDatabase,
  SERVER_TIMEOUT_MS,
  type ServerProcess,
  SETTINGS,
  startServer,
} from "../support/server";
import { startApp } from "../support/app";
import { until } from "../support/until";

/** Makes every transaction of new connections read-only, as on a standby, and ends the connections. */
async function makeReadOnly(url: string): Promise<void> {
  const postgres = process.env.TEST_POSTGRES!;
  const name = new URL(url).pathname.slice(1);
  await statement(postgres, `alter database ${name} set default_transaction_read_only = true`);
  await statement(
    postgres,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}

const CREATE = 'createAssistant(input: { name: "Bea" }) { id }';
const MCP = { Accept: "application/json, text/event-stream" };

describe("while the database is read-only, an answer has Retry-After", () => {
  let server: ServerProcess;
  let assistantId: string;
  beforeAll(async () => {
    const url = await preparedDatabase(afterTests);
    server = await startServer({ ...SETTINGS, DATABASE_URL: url }, afterTests);
    assistantId = await newAssistant(server.api);
    await makeReadOnly(url);
    // Each connection of the pool may have to be opened again.
    const reads = () =>
      Promise.all(Array.from({ length: 20 }, () => server.api.graphql("{ organization { id } }")));
    await until(async () => (await reads()).every(({ body }) => body.data));
  }, 2 * SERVER_TIMEOUT_MS);

  const post = (query: string, headers: Record<string, string> = {}) =>
    server.api.request("POST", "/graphql", { query }, headers);
  const failures = async () => {
    const { text } = await server.api.request("GET", "/metrics");
    return valueOf(samplesOf(text), "parley_graphql_failures_total", { code: "UNAVAILABLE" })!;
  };

  test.each<[string, () => ReturnType<typeof post>, unknown]>([
    ["a mutation", () => post(`mutation { ${CREATE} }`), { createAssistant: null }],
    [
      "one field of several",
      () => post(`{ assistant(id: "${assistantId}") { id } organization { id analyticUrl } }`),
      { assistant: { id: expect.any(String) }, organization: { id: expect.any(String), analyticUrl: null } },
    ],
    [
      "an operation by GET",
      () => {
        const query = encodeURIComponent("{ __typename organization { id analyticUrl } }");
        return server.api.request("GET", `/graphql?query=${query}`);
      },
      { __typename: "Query", organization: { id: expect.any(String), analyticUrl: null } },
    ],
    ["two mutations", () => post(`mutation { one: ${CREATE} two: ${CREATE} }`), { one: null, two: null }],
    [
      "a mutation with an Idempotency-Key",
      () => post(`mutation { ${CREATE} }`, { "Idempotency-Key": "a mutation" }),
      null,
    ],
  ])("if it has failed in %s", async (_name, ask, data) => {
    const before = await failures();
    const { status, headers, body } = await ask();
    expect(body.errors.at(-1).extensions.code).toBe("UNAVAILABLE");
    expect({ status, retryAfter: headers.get("Retry-After"), data: body.data }).toEqual({
      status: 200,
      retryAfter: "2",
      data,
    });
    await until(async () => (await failures()) === before + 1);
  });

  test("if it has failed in a tool of an agent", async () => {
    const before = await failures();
    const call = { name: "createAssistant", arguments: { input: { name: "Bea" } } };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call };
    const { status, headers, body } = await server.api.request("POST", "/mcp", message, MCP);
    expect(body.result.structuredContent.errors).toMatchObject([{ code: "UNAVAILABLE" }]);
    expect([status, headers.get("Retry-After")]).toEqual([200, "2"]);
    await until(async () => (await failures()) === before + 1);
  });

  test("only if it has failed, and so for another reason than the client's", async () => {
    const before = await failures();
    for (const query of ["{ organization { id } }", '{ assistant(id: "unknown") { id } }', "{ unknown }"])
      expect((await post(query)).headers.get("Retry-After")).toBeNull();
    expect(await failures()).toBe(before);
  });
});

test("a stream of events whose subscription takes too long to open has Retry-After", async () => {
  const database = await createDatabase();
  const app = await startApp(database);
  const chatId = await newChat(app.api, await quietAssistant(app.api));
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query("begin; lock table chats in access exclusive mode");
  const query = `subscription { chatEvents(chatId: "${chatId}") { id } }`;
  const { headers, text } = await app.api.request(
    "POST",
    "/graphql",
    { query },
    { Accept: "text/event-stream" },
  );
  await owner.end();
  await app.stop();
  await database.drop();
  expect(text).toContain('"code":"TIMEOUT"');
  expect(headers.get("Retry-After")).toBe("2");
});
