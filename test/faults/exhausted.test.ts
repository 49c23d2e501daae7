import { execFileSync } from "node:child_process";
import { afterAll, describe, expect, test } from "@jest/globals";
import { connect } from "../../src/platform/database/connections/connect";
import type { Answer } from "../support/api";
import { closeRaw, rawRequest } from "../support/raw";
import { statement } from "../support/database";
import { newChat, quietAssistant, said } from "../support/factories";
import { SERVER_TIMEOUT_MS, preparedDatabase, SETTINGS, startServer } from "../support/server";
import { until } from "../support/until";

const seen = ({ status, headers, body }: Answer) => ({
  status,
  code: body.code,
  retryAfter: headers.get("Retry-After"),
});
const UNAVAILABLE = { status: 503, code: "UNAVAILABLE", retryAfter: "2" };

/** Makes every transaction of new connections to a database read-only, as on a standby, or lets them write again. */
async function setReadOnly(url: string, readOnly: boolean): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await statement(
    process.env.TEST_POSTGRES!,
    `alter database ${name} set default_transaction_read_only = ${readOnly}`,
  );
}

async function closeConnections(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await statement(
    process.env.TEST_POSTGRES!,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}

describe("a read-only database", () => {
  test.each(["keep their connections", "are disconnected"])(
    "answers writes with 503 and Retry-After, allows reads, fails readiness, and recovers, if servers %s then",
    async (servers) => {
      const url = await preparedDatabase();
      const { api, stderr } = await startServer({ ...SETTINGS, DATABASE_URL: url });
      const assistantId = await quietAssistant(api);
      const { id } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
      await setReadOnly(url, true);
      await closeConnections(url);
      await until(async () => (await api.request("GET", `/rest/v1/assistants/${id}`)).status === 200);
      expect((await api.gql("{ events(first: 1) { nodes { id } } }")).events).toEqual({ nodes: [] });
      expect(seen(await api.request("POST", "/rest/v1/assistants", { name: "Bea" }))).toEqual(UNAVAILABLE);
      expect(seen(await api.request("PATCH", `/rest/v1/assistants/${id}`, { name: "Bea" }))).toEqual(
        UNAVAILABLE,
      );
      expect(seen(await api.request("DELETE", `/rest/v1/assistants/${id}`))).toEqual(UNAVAILABLE);
      const mutation = 'mutation { createAssistant(input: { name: "Bea" }) { id } }';
      const { errors } = (await api.request("POST", "/graphql", { query: mutation })).body;
      expect(errors).toMatchObject([{ extensions: { code: "UNAVAILABLE" } }]);
      expect(await api.get("/health/ready", 503)).toMatchObject({ database: "read-only" });
      expect(stderr().match(/"code":"25006".*"msg":"request failed"/g)).toHaveLength(1);
      expect((await api.request("GET", "/health/live")).status).toBe(200);

      await setReadOnly(url, false);
      // PgBouncer keeps its connections until an operator lets it reconnect, whatever the servers do.
      if (servers === "are disconnected" || process.env.TEST_POOLER) await closeConnections(url);
      await until(
        async () => (await api.request("POST", "/rest/v1/assistants", { name: "Bea" })).status === 200,
      );
      await until(async () => (await api.request("GET", "/health/ready")).status === 200);
      const chatId = await newChat(api, assistantId);
      const question = said(chatId, "Hello", "USER");
      const answer = await api.post("/rest/v1/ai-chats/messages?wait=true", question, 201); // that of a job
      expect(answer).toMatchObject({ reply: { role: "ASSISTANT" } });
    },
    3 * SERVER_TIMEOUT_MS,
  );
});

describe("a server without free file handles", () => {
  test(
    "answers 503 with Retry-After to requests that need one, fails readiness, and recovers",
    async () => {
      const { api, pid } = await startServer({ ...SETTINGS, DATABASE_URL: await preparedDatabase() });
      // All requests share one connection, because the server has no handle for another.
      const ask = async (path: string, form?: string) => {
        const type = { "Content-Type": "multipart/form-data; boundary=b" };
        const { status, headers, text } = await rawRequest(api.url, {
          path,
          headers: { ...api.headers, ...(form !== undefined && type) },
          ...(form !== undefined && { method: "POST", body: form }),
        });
        return { status, retryAfter: headers["retry-after"], body: JSON.parse(text) };
      };
      const file = 'name="file"; filename="text.txt"\r\n\r\ntext';
      const formOf = (...parts: string[]) =>
        `${parts.map((part) => `--b\r\nContent-Disposition: form-data; ${part}\r\n`).join("")}--b--\r\n`;
      const upload = () => ask("/rest/v1/files/upload", formOf(file));
      const query = "mutation ($file: Upload!) { uploadFile(file: $file) { id } }";
      const operations = `name="operations"\r\n\r\n${JSON.stringify({ query, variables: { file: null } })}`;
      const map = 'name="map"\r\n\r\n{"file":["variables.file"]}';
      const graphql = () => ask("/graphql", formOf(operations, map, file));
      expect((await ask("/rest/v1/assistants")).status).toBe(200); // opens the connections that the rest of the test uses
      const prlimit = (...what: string[]) =>
        execFileSync("prlimit", ["--pid", String(pid), ...what], { encoding: "utf8" });
      const before = prlimit("--nofile", "-o", "SOFT", "--noheadings").trim();
      prlimit("--nofile=3:"); // open handles stay open, and no lower number becomes free
      const refused = await upload();
      expect({ ...refused, body: refused.body.code }).toEqual({
        status: 503,
        retryAfter: "2",
        body: "UNAVAILABLE",
      });
      const { errors } = (await graphql()).body;
      expect(errors).toMatchObject([{ extensions: { code: "UNAVAILABLE" } }]);
      expect(await ask("/health/ready")).toMatchObject({ status: 503, body: { fileHandles: "exhausted" } });
      expect((await ask("/health/live")).status).toBe(200);

      prlimit(`--nofile=${before}:`);
      await until(async () => (await upload()).status === 201);
      expect((await graphql()).body.errors).toBeUndefined();
      expect(await ask("/health/ready")).toMatchObject({ status: 200, body: { fileHandles: "ok" } });
    },
    3 * SERVER_TIMEOUT_MS,
  );
  afterAll(closeRaw);
});

test("a query that finds all connections of the pool in use fails with the setting of the pool", async () => {
  const db = connect(await preparedDatabase(), { pool: 1 });
  const open = await db.transaction();
  await expect(db.raw("select 1")).rejects.toThrow(
    "Timeout acquiring a connection: all 1 are in use. Look for slow statements, or raise DATABASE_POOL.",
  );
  await open.rollback();
  await db.destroy();
});
