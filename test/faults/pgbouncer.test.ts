import { beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import type { Api } from "../support/api";
import { APP_ROLE, createDatabase, statement, type TestDatabase } from "../support/database";
import { newAssistant, newChat, quietAssistant, said, say } from "../support/factories";
import {
  hasPgBouncer,
  knowsPrepared,
  ROLE_SETTINGS,
  startPgBouncer,
  type PgBouncer,
} from "../support/pgbouncer";
import { Receiver } from "../support/receiver";
import { afterTests, runToEnd, SETTINGS, startServer, type Env, type ServerProcess } from "../support/server";
import { until } from "../support/until";
import { Clients } from "../upgrades/clients";

const POOL_SIZE = 4;
/** More than the connections that PgBouncer opens, so that requests share them. */
const AT_ONCE = 120;

let database: TestDatabase;
let pooler: PgBouncer;
let server: ServerProcess;
let env: Env;

async function newPooler(settings: Readonly<Record<string, string>> = {}): Promise<PgBouncer> {
  const made = await startPgBouncer(database.ownerUrl, { [APP_ROLE]: APP_ROLE }, settings);
  afterTests(made.stop);
  return made;
}

async function prepareWorld(): Promise<void> {
  database = await createDatabase();
  afterTests(database.drop);
  const name = new URL(database.ownerUrl).pathname.slice(1);
  for (const [setting, value] of Object.entries(ROLE_SETTINGS))
    await statement(
      database.ownerUrl,
      `alter role ${APP_ROLE} in database ${name} set ${setting} = '${value}'`,
    );
  pooler = await newPooler({ default_pool_size: String(POOL_SIZE) });
  const direct = database.directUrl ?? database.url;
  env = {
    ...SETTINGS,
    DATABASE_URL: pooler.through(direct),
    DATABASE_DIRECT_URL: direct,
    DATABASE_OWNER_URL: database.ownerUrl,
    DATABASE_JOBS_URL: database.jobsUrl,
    DATABASE_PREPARE: knowsPrepared() ? "on" : "off",
    ROW_LEVEL_SECURITY: "true",
    OUTBOUND_ALLOW: "127.0.0.1",
    TAKEOVER_SECONDS: "4", // deliveries whose claim was lost with its connection
  };
}

if (!hasPgBouncer()) test.todo("run behind PgBouncer, which is not installed");
else
  describe("behind PgBouncer in transaction mode", () => {
    beforeAll(async () => {
      await prepareWorld();
      server = await startServer(env, afterTests);
    });

    test("many requests at once share few connections, and each sees its own organization", async () => {
      const clients: Api[] = [server.api];
      const { stdout } = await runToEnd("cli/org-create", env, "--name", "Other");
      const { secretKey } = JSON.parse(stdout) as { secretKey: string };
      clients.push(server.api.as({ "X-API-Key": secretKey }));
      const ids = await Promise.all(clients.map((api) => newAssistant(api)));
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, number) => {
          const [own, theirs] = [number % 2, (number + 1) % 2];
          const seen = await clients[own]!.request("GET", `/rest/v1/assistants/${ids[own]}`);
          const hidden = await clients[own]!.request("GET", `/rest/v1/assistants/${ids[theirs]}`);
          return [seen.status, (seen.body as { id: string }).id === ids[own], hidden.status];
        }),
      );
      expect(answers).toEqual(answers.map(() => [200, true, 400]));
    });

    test("changes at once are all stored, and their events are delivered", async () => {
      const receiver = await new Receiver().start();
      afterTests(() => receiver.stop());
      const { api } = server;
      const assistantId = await quietAssistant(api);
      await api.gql(
        `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`,
        { input: { url: receiver.url, secret: "secret of the test" } },
      );
      const chats = await Promise.all(Array.from({ length: 20 }, () => newChat(api, assistantId)));
      await Promise.all(chats.map((id) => say(api, id, "Hello")));
      const updates = await receiver.until(20, ({ headers }) => headers["webhook-id"] !== undefined);
      expect(updates.length).toBeGreaterThanOrEqual(20);
    });

    test("the time limit of a search stays with it: shared connections keep that of the role", async () => {
      const id = await newAssistant(server.api);
      const found = await Promise.all(
        Array.from({ length: AT_ONCE / 4 }, () =>
          server.api.request("GET", `/rest/v1/assistants/${id}/logs?search=x`),
        ),
      );
      expect(found.map(({ status }) => status)).toEqual(found.map(() => 200));
      // As many transactions at once as PgBouncer has connections, so that each has another one.
      const clients = Array.from({ length: POOL_SIZE }, () => new Client(env.DATABASE_URL));
      for (const client of clients) await client.connect();
      for (const client of clients) await client.query("begin");
      const limits: unknown[] = [];
      for (const client of clients) limits.push(...(await client.query("show statement_timeout")).rows);
      for (const client of clients) await client.end();
      expect(limits).toEqual(clients.map(() => ({ statement_timeout: "5s" })));
    });

    test("a killed PgBouncer is answered with 503, and the server goes on when it is back", async () => {
      const id = await newAssistant(server.api);
      await pooler.kill();
      const { status, headers } = await server.api.request("GET", `/rest/v1/assistants/${id}`);
      expect([status, headers.has("retry-after")]).toEqual([503, true]);
      await pooler.restart();
      await until(async () => (await server.api.request("GET", `/rest/v1/assistants/${id}`)).status === 200);
    });

    test("while PgBouncer is killed under load, requests get 503 at worst, and nothing acknowledged is lost", async () => {
      const { api } = server;
      const chatId = await newChat(api, await quietAssistant(api));
      const clients = new Clients(api, 0);
      await clients.start();
      const acknowledged: string[] = [];
      let isOver = false;
      const write = async () => {
        while (!isOver) {
          const { status, body } = await api.request(
            "POST",
            "/rest/v1/ai-chats/messages",
            said(chatId, "Hi"),
          );
          expect([201, 503]).toContain(status);
          if (status === 201) acknowledged.push((body as { id: string }).id);
        }
      };
      const writers = Promise.all([write(), write()]);
      for (let kill = 0; kill < 3; kill++) {
        const before = acknowledged.length;
        await until(() => Promise.resolve(acknowledged.length >= before + 10));
        await pooler.kill();
        await pooler.restart();
      }
      await until(async () => (await api.request("GET", "/health/ready")).status === 200);
      isOver = true;
      await Promise.all([writers, clients.stop()]);
      // An operation of GraphQL has the status 200.
      expect(clients.failures.filter((failure) => !failure.includes('"code":"UNAVAILABLE"'))).toEqual([]);
      const stored = await database.query<{ id: string }>("select id from messages where chat_id = $1", [
        chatId,
      ]);
      expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
      await until(
        async () =>
          (await database.query("select from deliveries where status <> 'DELIVERED' limit 1")).length === 0,
      );
    });

    test.each(["", "options"])(
      "a start without the URL past it says which setting is missing, and takes no lock (ignored parameters: '%s')",
      async (ignored) => {
        const strict = await newPooler({ ignore_startup_parameters: ignored });
        const { DATABASE_DIRECT_URL: direct, DATABASE_OWNER_URL: _, ...rest } = env;
        const { code, stderr } = await runToEnd("main", {
          ...rest,
          DATABASE_URL: strict.through(direct!),
        });
        expect([code, stderr]).toEqual([78, expect.stringMatching(/This is a pooler.*DATABASE_DIRECT_URL/)]);
        const locks = await database.query(
          "select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
        );
        expect(locks).toEqual([]);
      },
    );

    test.each(["DATABASE_DIRECT_URL", "DATABASE_OWNER_URL", "DATABASE_JOBS_URL"])(
      "a start whose %s is that through the pooler, as in DATABASE_URL, names the setting that must lead past it",
      async (setting) => {
        const { code, stderr } = await runToEnd("main", { ...env, [setting]: env.DATABASE_URL! });
        const remedy = new RegExp(
          `\\(${setting}\\): .*This is a pooler.*set ${setting} to the URL of PostgreSQL`,
        );
        expect([code, stderr]).toEqual([78, expect.stringMatching(remedy)]);
      },
    );

    test.each<[string, string[]]>([
      ["DATABASE_URL", ["DATABASE_DIRECT_URL"]],
      ["DATABASE_DIRECT_URL", []],
      ["DATABASE_JOBS_URL", []],
    ])(
      "a start whose %s leads to a pooler that ignores settings names what to set, although the owner's URL leads past it",
      async (setting, unset) => {
        const ignoring = await newPooler({
          pool_mode: "statement",
          ignore_startup_parameters: "options",
        });
        const through = ignoring.through(database.directUrl ?? database.url);
        const { code, stderr } = await runToEnd("main", {
          ...env,
          [setting]: through,
          ...Object.fromEntries(unset.map((name) => [name, ""])),
        });
        const remedy = setting === "DATABASE_URL" ? "DATABASE_DIRECT_URL" : setting;
        expect([code, stderr]).toEqual([
          78,
          expect.stringMatching(
            new RegExp(
              `^Cannot connect to the database \\S+ \\(${setting}\\): .*This is a pooler.*set ${remedy} to`,
              "m",
            ),
          ),
        ]);
        expect(stderr.match(/Cannot connect/g)).toHaveLength(1);
      },
    );

    test.each(["statement", "transaction"])(
      "the rows of organizations are not distributed through it in %s mode",
      async (mode) => {
        const ignored = { pool_mode: mode, ignore_startup_parameters: "options" };
        const { DATABASE_DIRECT_URL: direct, DATABASE_OWNER_URL: _, ...rest } = env;
        const through = (await newPooler(ignored)).through(direct!);
        const { code, stderr } = await runToEnd("cli/distribute", { ...rest, DATABASE_URL: through });
        expect([code, stderr]).toEqual([1, expect.stringMatching(/pooler.*the coordinator itself/)]);
      },
    );

    test("the command that prints roles prints their settings, and their URLs through and past it", async () => {
      const { stdout } = await runToEnd("cli/database-roles", {
        ...env,
        DATABASE_URL: pooler.through(database.ownerUrl),
        DATABASE_DIRECT_URL: database.ownerUrl,
        DATABASE_OWNER_URL: "",
        DATABASE_JOBS_URL: "",
      });
      const urls: Record<string, URL> = Object.fromEntries(
        [...stdout.matchAll(/^-- (\w+_URL)='(.+)'$/gm)].map(([, name, url]) => [name, new URL(url!)]),
      );
      const [past, through] = [new URL(database.ownerUrl), new URL(pooler.through(database.ownerUrl))];
      const places = Object.entries(urls).map(([name, { username, port }]) => [name, username, port]);
      expect(places).toEqual([
        ["DATABASE_OWNER_URL", past.username, past.port],
        ["DATABASE_URL", "parley_serving", through.port],
        ["DATABASE_DIRECT_URL", "parley_serving", past.port],
        ["DATABASE_JOBS_URL", "parley_jobs", past.port],
      ]);
      for (const name of Object.keys(ROLE_SETTINGS))
        expect(stdout).toMatch(new RegExp(`^alter role "parley_serving" in database .* set ${name} = `, "m"));
    });

    test("a start in statement mode says which mode is needed", async () => {
      const wrong = await newPooler({ pool_mode: "statement" });
      const { code, stderr } = await runToEnd("main", {
        ...env,
        DATABASE_URL: wrong.through(env.DATABASE_DIRECT_URL!),
      });
      expect([code, stderr]).toEqual([78, expect.stringMatching(/Set pool_mode = transaction/)]);
    });

    test("a start with prepared statements, behind a PgBouncer that does not know them, names the setting", async () => {
      const forgetful = await newPooler(knowsPrepared() ? { max_prepared_statements: "0" } : {});
      const { code, stderr } = await runToEnd("main", {
        ...env,
        DATABASE_URL: forgetful.through(env.DATABASE_DIRECT_URL!),
        DATABASE_PREPARE: "on",
      });
      expect([code, stderr]).toEqual([78, expect.stringMatching(/Set DATABASE_PREPARE=off/)]);
    });

    test("a start with prepared statements, behind a PgBouncer in session mode, is not refused", async () => {
      const lasting = await newPooler({ pool_mode: "session" });
      const DATABASE_URL = lasting.through(env.DATABASE_DIRECT_URL!);
      const { api } = await startServer(
        { ...env, DATABASE_URL, DATABASE_PREPARE: "on", WORKER: "off" },
        afterTests,
      );
      expect((await api.request("GET", "/rest/v1/assistants")).status).toBe(200);
    });

    test("a start with a role that lacks its settings prints the statements that set them", async () => {
      const name = new URL(database.ownerUrl).pathname.slice(1);
      await statement(
        database.ownerUrl,
        `alter role ${APP_ROLE} in database ${name} set statement_timeout = '7s'`,
      );
      const fresh = await newPooler(); // PgBouncer's connections have the settings of their start
      const { code, stderr } = await runToEnd("main", {
        ...env,
        DATABASE_URL: fresh.through(env.DATABASE_DIRECT_URL!),
      });
      expect([code, stderr]).toEqual([
        78,
        expect.stringMatching(
          /alter role "?parley_app"? in database .* set statement_timeout = '5000';\s*$/m,
        ),
      ]);
    });
  });
