import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import type { Answer } from "../support/api";
import { statement } from "../support/database";
import { PATIENCE, preparedDatabase, SETTINGS, startServer, until } from "../support/server";

const seen = ({ status, headers, body }: Answer) => ({
  status,
  code: body.code,
  retryAfter: headers.get("Retry-After"),
});
const UNAVAILABLE = { status: 503, code: "UNAVAILABLE", retryAfter: "2" };

/** Makes every new transaction on a database read-only, as on a standby, or lets it write again. */
async function setReadOnly(url: string, readOnly: boolean): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const postgres = process.env.TEST_POSTGRES!;
  await statement(postgres, `alter database ${name} set default_transaction_read_only = ${readOnly}`);
  await statement(
    postgres,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}

describe("a database that takes no writes", () => {
  test(
    "gets 503 with Retry-After for writes, reads go on, readiness fails, and all is well again afterwards",
    async () => {
      const url = await preparedDatabase();
      const { api } = await startServer({ ...SETTINGS, DATABASE_URL: url });
      const { id } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
      await setReadOnly(url, true);
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
      expect((await api.request("GET", "/health/live")).status).toBe(200);

      await setReadOnly(url, false);
      await until(
        async () => (await api.request("POST", "/rest/v1/assistants", { name: "Bea" })).status === 200,
      );
      await until(async () => (await api.request("GET", "/health/ready")).status === 200);
    },
    3 * PATIENCE,
  );
});

describe("a server without file handles to spare", () => {
  test(
    "answers 503 with Retry-After to what needs one, fails readiness, and recovers",
    async () => {
      const { api, pid } = await startServer({ ...SETTINGS, DATABASE_URL: await preparedDatabase() });
      await api.get("/rest/v1/assistants", 200); // opens the connections that the test goes on with
      const limit = (handles: string) =>
        execFileSync("prlimit", ["--pid", String(pid), `--nofile=${handles}:`]);
      const before = execFileSync("prlimit", [
        "--pid",
        String(pid),
        "--nofile",
        "-o",
        "SOFT",
        "--noheadings",
      ]);
      limit(String(readdirSync(`/proc/${pid}/fd`).length));
      const upload = () => {
        const form = new FormData();
        form.append("file", new Blob(["text"]), "text.txt");
        return api.request("POST", "/rest/v1/files/upload", form);
      };
      expect(seen(await upload())).toEqual(UNAVAILABLE);
      expect(await api.get("/health/ready", 503)).toMatchObject({ fileHandles: "exhausted" });
      expect((await api.request("GET", "/health/live")).status).toBe(200);

      limit(String(before).trim());
      await until(async () => (await upload()).status === 201);
      expect(await api.get("/health/ready", 200)).toMatchObject({ fileHandles: "ok" });
    },
    3 * PATIENCE,
  );
});
