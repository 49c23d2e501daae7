import { expect, test } from "@jest/globals";
import { Crypto } from "../../src/platform/crypto";
import { SEALED_COLUMNS } from "../../src/backup/sealed-columns";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { contentsOf, query, waitingInstallation } from "../support/installation";
import pg from "pg";
import { Api } from "../support/api";
import { someoneWaits } from "../support/database";
import { until } from "../support/until";
import {
  afterTest,
  emptyFolder,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  runToEnd,
  SETTINGS,
  startServer,
} from "../support/server";

const LONG = 5 * SERVER_TIMEOUT_MS;
const NEW = "a new encryption key that only tests use";
const OLD = SETTINGS.ENCRYPTION_KEYS!;

test("every encrypted column of the schema is rotated", async () => {
  const url = await preparedDatabase();
  const columns = await query<{ name: string }>(
    url,
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and column_name ~ '(^|_)sealed(_|$)'`,
  );
  expect(columns.map(({ name }) => name).sort()).toEqual(
    SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort(),
  );
});

test(
  "keys are rotated while servers run: afterwards all secrets can be read with the new key alone",
  async () => {
    const { env, server, api } = await waitingInstallation();
    const headers = { "Idempotency-Key": "once" };
    await api.post("/rest/v1/assistants", { name: "Once" }, 200, headers);
    const { data: destinations } = await destinationsOf(api);
    const { id } = destinations[0] as { id: string };
    await api.patch(`/rest/v1/settings/${id}`, { secret: "another secret" }, 200);
    await api.gql("mutation { identitySecret }");
    await api.gql(
      'mutation { forgetEndUser(uniqueId: "somebody") { id } exportEndUser(uniqueId: "nobody") { id } }',
    );
    await sealCredentials(env.DATABASE_URL!);
    for (const { table, column } of SEALED_COLUMNS) {
      const text = `select 1 from ${table} where ${column} is not null`;
      expect([table, column, await query(env.DATABASE_URL!, text)]).not.toEqual([table, column, []]);
    }
    const sealed = await sealedIn(env.DATABASE_URL!);
    expect(sealed.length).toBeGreaterThan(5);

    const both = { ...env, ENCRYPTION_KEYS: `${NEW},${OLD}` };
    expect(await runToEnd("cli/keys-rotate", both)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("was started without the new key"),
    });
    expect(await sealedIn(env.DATABASE_URL!)).toEqual(sealed);
    await server.end("SIGTERM");
    const informed = await startServer(both);
    const rotated = await runToEnd("cli/keys-rotate", both);
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringContaining("remove the old keys") });
    expect(rotated.stdout).toContain(`(${sealed.length} re-encrypted in this run)`);
    expect((await runToEnd("cli/keys-rotate", both)).stdout).toContain("(0 re-encrypted in this run)");
    await informed.api.get("/rest/v1/assistants", 200);
    await informed.end("SIGTERM");

    expect(await runToEnd("cli/keys-rotate", { ...env, ENCRYPTION_KEYS: NEW })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("only one encryption key, so there is nothing to rotate"),
    });
    const only = await startServer({ ...env, ENCRYPTION_KEYS: NEW });
    const kept = only.api;
    expect(destinationsIn(await destinationsOf(kept))).toContain("another secret");
    const repeated = await kept.request("POST", "/rest/v1/assistants", { name: "Once" }, headers);
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    expect(await kept.get("/rest/v1/organization/keys", 200)).toHaveLength(2);
    const ids = new Set((await sealedIn(env.DATABASE_URL!)).map((value) => value.split(".")[0]));
    expect(ids.size).toBe(1);
    expect(await leftUnder(env.DATABASE_URL!, sealed[0]!.split(".")[0]!)).toEqual([]);
  },
  LONG,
);

test.each([
  ["webhook_destinations", "sealed_secret", "id"],
  ["model_credentials", "sealed_key", "provider"],
])(
  "a secret in %s that is replaced during the rotation stays the new one, and can be read with the new key",
  async (table, column, key) => {
    const { env, server } = await waitingInstallation();
    const url = env.DATABASE_URL!;
    await sealCredentials(url);
    await server.end("SIGTERM");
    const read = `select organization_id as organization, ${key} as name, ${column} as sealed from ${table}`;
    const [row] = await query<{ organization: string; name: string }>(url, read);
    const where = `${row!.organization}/${table}/${row!.name}`;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("begin");
    await client.query(`update ${table} set ${column} = $1`, [
      new Crypto([NEW, OLD]).seal("replaced", where),
    ]);
    const rotating = runToEnd("cli/keys-rotate", { ...env, ENCRYPTION_KEYS: `${NEW},${OLD}` });
    await until(() =>
      someoneWaits({ query: (text, values) => query(url, text, values) }, `update %${table}%`),
    );
    await client.query("commit");
    await client.end();
    expect(await rotating).toMatchObject({ code: 0, stdout: expect.stringContaining("remove the old keys") });
    const [after] = await query<{ sealed: string }>(url, read);
    expect(new Crypto([NEW]).open(after!.sealed, where)).toBe("replaced");
  },
  LONG,
);

test(
  "while servers restart one after another, those that know the new key accept what the others make with it",
  async () => {
    const { env, server } = await waitingInstallation();
    const knows = await startServer({ ...env, ENCRYPTION_KEYS: `${OLD},${NEW}` });
    const both = { ...env, ENCRYPTION_KEYS: `${NEW},${OLD}` };
    const { api } = await startServer(both);
    const { token } = await api.post("/rest/v1/organization/token", {}, 200);
    const { value } = await api.post("/rest/v1/organization/keys", {}, 200);
    const { id } = destinationsOfBody(await destinationsOf(api))[0]!;
    await api.patch(`/rest/v1/settings/${id}`, { secret: "sealed with the new key" }, 200);
    const credentials = [
      { Authorization: `Bearer ${token as string}` },
      { "X-API-Key": value as string },
    ] as const;
    for (const credential of credentials) {
      const there = await destinationsOf(knows.api.as(credential));
      expect(destinationsIn(there)).toContain("sealed with the new key");
      expect((await server.api.as(credential).request("GET", "/rest/v1/assistants")).status).toBe(401);
    }
    await server.end("SIGTERM");
    const early = await runToEnd("cli/keys-rotate", both); // `knows` still writes with the old key
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("Restart every server first")]);
  },
  LONG,
);

test(
  "with the embedded database, the command creates the new key",
  async () => {
    const env = { DATA_DIR: emptyFolder(), PORT: "0" };
    const server = await startServer(env);
    const key = /SECRET +(\S+)/.exec(server.stdout())![1]!;
    expect((await runToEnd("cli/keys-rotate", env, "--new-key")).stdout).toContain("Restart the server");
    expect((await runToEnd("cli/keys-rotate", env)).stderr).toContain("was started without the new key");
    await server.end("SIGTERM");
    expect((await runToEnd("cli/keys-rotate", env)).stdout).toContain("remove the old keys");
    expect(readFileSync(join(env.DATA_DIR, "encryption-keys"), "utf8").split(",")).toHaveLength(2);
    const again = await startServer(env);
    await new Api(again.url, { "X-API-Key": key }).get("/rest/v1/assistants", 200);
    afterTest(() => again.end("SIGTERM"));
  },
  LONG,
);

/** Stores sealed credentials directly, because these tests reach no provider that could confirm them. */
async function sealCredentials(url: string): Promise<void> {
  const [row] = await query<{ id: string }>(url, "select id from organizations");
  const { id: organization } = row!;
  const seal = (context: string) => new Crypto([OLD]).seal("a credential", `${organization}/${context}`);
  await query(
    url,
    "insert into model_credentials (organization_id, id, provider, sealed_key) values ($1, 'm', 'OPENAI', $2)",
    [organization, seal("model_credentials/OPENAI")],
  );
  await query(
    url,
    "insert into model_mappings (organization_id, id, model, name, sealed_key) values ($1, 'n', 'MIXTRAL', 'x', $2)",
    [organization, seal("model_mappings/MIXTRAL")],
  );
  await query(
    url,
    "insert into telephony_connections (organization_id, id, phone_number, account_sid, sealed_token) values ($1, 't', '+41780000000', 'AC', $2)",
    [organization, seal("telephony_connections/t")],
  );
  await query(
    url,
    "insert into assistants (organization_id, id, name, tool_servers, sealed_tool_headers) values ($1, 'a', 'x', $3, $2)",
    [
      organization,
      new Crypto([OLD]).seal('{"crm":{"a":"b"}}', `${organization}/assistants/a`),
      JSON.stringify([
        { name: "crm", url: "https://crm.example/mcp", headerNames: ["a"], allowedTools: null },
      ]),
    ],
  );
  await query(
    url,
    "insert into function_secrets (organization_id, assistant_id, slot, sealed_secret) values ($1, 'a', 'x/y', $2)",
    [organization, seal("function_secrets/a/x/y")],
  );
  await query(
    url,
    "insert into assistant_drafts (organization_id, assistant_id, based_on, content, sealed_secrets, updated_at) values ($1, 'a', 1, '{}', $2, now())",
    [organization, seal("assistant_drafts/a")],
  );
  await query(
    url,
    "insert into chats (organization_id, id, assistant_id, channel, status, status_event_id) values ($1, 'c', 'a', 'TEXT', 'in-progress', 'none')",
    [organization],
  );
  await query(
    url,
    "insert into chat_drafts (organization_id, chat_id, content, sealed_secrets) values ($1, 'c', '{}', $2)",
    [organization, seal("chat_drafts/c")],
  );
  await query(
    url,
    "insert into provider_erasures (organization_id, id, kind, sealed_target) values ($1, 'p', 'TEXTS', $2)",
    [organization, seal("provider_erasures/p")],
  );
}

const destinationsOf = async (api: Api) => ({ data: (await api.get("/rest/v1/settings", 201)) as unknown[] });
const destinationsOfBody = ({ data }: { data: unknown[] }) => data as { id: string }[];
const destinationsIn = ({ data }: { data: unknown[] }) => JSON.stringify(data);

/** Every sealed value in any table. */
async function sealedIn(url: string): Promise<string[]> {
  const values: string[] = [];
  for (const { table, column } of SEALED_COLUMNS)
    values.push(
      ...(
        await query<{ value: string }>(
          url,
          `select ${column} as value from ${table} where ${column} is not null order by 1`,
        )
      ).map(({ value }) => value),
    );
  return values;
}

/** Rows of any table that hold a value sealed with a key. */
async function leftUnder(url: string, id: string): Promise<string[]> {
  const contents = await contentsOf(url);
  const start = new RegExp(`(^|[(,"' ])${id.replace(/[^\\w]/g, "\\$&")}\\.[A-Za-z0-9_-]{38}`);
  return Object.entries(contents).flatMap(([name, rows]) =>
    rows.some((row) => start.test(row)) ? [name] : [],
  );
}
