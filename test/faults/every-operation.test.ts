import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { startApp } from "../support/app";
import { createDatabase, statement, type TestDatabase } from "../support/database";
import { importerOf } from "../support/importers";
import { type Proxy, proxyTo } from "../support/proxy";
import { SERVER_TIMEOUT_MS } from "../support/server";
import { until } from "../support/until";
import { rows } from "../support/suite";
import { callerOf, type Target, targets } from "../support/targets";
import { buildWorld, type World } from "../support/world";

let database: TestDatabase;
let proxy: Proxy;
let running: Awaited<ReturnType<typeof startApp>>;
let world: World;

beforeAll(async () => {
  jest.spyOn(console, "log").mockImplementation(() => undefined); // Knex logs each broken connection there
  database = await createDatabase();
  proxy = await proxyTo(database.url);
  running = await startApp({ ...database, url: proxy.url });
  world = await buildWorld(running.api);
  await importerOf(running.api); // its key cannot be made while the database is away
  const functions = [{ name: "echo" }]; // the workflow of the chat has set other functions
  await running.api.patch(`/rest/v1/assistants/${world.assistantId}/chat`, { functions }, 200);
}, 2 * SERVER_TIMEOUT_MS);
afterAll(async () => {
  await running.stop();
  proxy.stop();
  await database.drop();
});

/** Tables that a server writes without a request. */
const OF_SERVERS: readonly string[] = ["knex_migrations_lock", "stored_sizes"];

/** Digest of each table's rows, and the names of the stored files. */
async function stored(): Promise<unknown> {
  const tables = await database.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  expect(tables.length).toBeGreaterThan(35);
  const digests: Record<string, string> = {};
  for (const { name } of tables.filter(({ name }) => !OF_SERVERS.includes(name))) {
    const text = `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '' order by t::text)), '') as digest from ${name} t`;
    digests[name] = (await database.query<{ digest: string }>(text))[0]!.digest;
  }
  return { digests, files: readdirSync(running.dataDir, { recursive: true }).sort() };
}

const ask = (target: Target) => target.ask(callerOf(target, running.api, world), world);

/** Expects that requests succeed again and that refused requests have left no effect. */
async function expectWell(before: unknown): Promise<void> {
  const read = `/rest/v1/assistants/${world.assistantId}`;
  await until(async () => (await running.api.request("GET", read)).status === 200);
  await until(async () => (await running.api.request("GET", "/health/ready")).status === 200);
  expect(await stored()).toEqual(before);
  await running.api.patch(read, { name: "Cleo" }, 200);
}

/** Codes of requests that are refused without the database; undefined for callbacks of unknown calls, which have no effect. */
const UNKNOWN_SENDER = [undefined, "UNAUTHENTICATED", "FORBIDDEN", "401", "403"];

const away = rows(targets, 16);
describe(`while the database is unavailable, ${away.title} routes and operations`, () => {
  let before: unknown;
  beforeAll(async () => {
    before = await stored();
    proxy.leave();
  });

  test.each(away.rows)("$title returns an error with Retry-After", async (target) => {
    const { code, status, retryAfter } = await ask(target);
    if (target.caller === "provider") return expect(["UNAVAILABLE", ...UNKNOWN_SENDER]).toContain(code);
    if (target.title.startsWith("subscription")) return expect(code).toMatch(/UNAVAILABLE|closed with/);
    expect(code).toBe("UNAVAILABLE");
    expect(retryAfter).toBe("2");
    if (target.api === "REST") expect(status).toBe(503);
  });

  test("liveness stays ok, nothing is left half-done, and everything works once the database is back", async () => {
    expect((await running.api.request("GET", "/health/live")).status).toBe(200);
    expect((await running.api.request("GET", "/health/ready")).status).toBe(503);
    expect(await stored()).toEqual(before);
    proxy.comeBack();
    await expectWell(before);
  });
});

/** Reads that return a secret or a link, which the audit log must record first. */
const DISCLOSING = [
  "regenerateWebhookSecret",
  "listWebhookSettings",
  "getOrganization",
  "listKeys",
  "getKey",
  "downloadFile",
  "fileDownload",
  "endUserExportDownload",
];
/** Subscriptions, which start and then wait for an event that cannot be written. */
const WAITING = ["callEvents", "organizationEvents", "organizationChanges", "assistantChanges"];

const END_CONNECTIONS = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";

/** Makes every new transaction read-only, as on a standby, or lets it write again. */
async function setReadOnly(readOnly: boolean): Promise<void> {
  const postgres = process.env.TEST_POSTGRES!;
  const name = new URL(database.ownerUrl).pathname.slice(1);
  await statement(postgres, `alter database ${name} set default_transaction_read_only = ${readOnly}`);
  proxy.leave(); // open connections keep the old setting
  if (database.directUrl !== undefined) await statement(postgres, END_CONNECTIONS.replace("$1", `'${name}'`)); // PgBouncer's
  proxy.comeBack();
}

const readOnly = rows(
  targets.filter(({ name }) => !WAITING.includes(name)),
  16,
);
describe(`while the database is read-only, ${readOnly.title} routes and operations`, () => {
  let before: unknown;
  beforeAll(async () => {
    before = await stored();
    await setReadOnly(true);
    const read = `/rest/v1/assistants/${world.assistantId}`;
    await until(async () => (await running.api.request("GET", read)).status === 200);
  });

  test.each(readOnly.rows)(
    "$title reads, or reports that it cannot be recorded or stored",
    async (target) => {
      const { code, retryAfter } = await ask(target);
      if (!target.changes && !DISCLOSING.includes(target.name)) expect(code).not.toBe("UNAVAILABLE");
      expect(["UNAVAILABLE", "CHANNEL_DISABLED", ...UNKNOWN_SENDER]).toContain(code);
      if (code === "UNAVAILABLE") expect(retryAfter).toBe("2");
    },
  );

  test("liveness stays ok, nothing is left half-done, and everything works once the database is writable", async () => {
    expect((await running.api.request("GET", "/health/live")).status).toBe(200);
    expect(await stored()).toEqual(before);
    await setReadOnly(false);
    await expectWell(before);
  });
});
