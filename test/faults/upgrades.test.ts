import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import pino from "pino";
import { connect } from "../../src/platform/database/connections/connect";
import { migrateTo } from "../../src/platform/database/upgrades/migrate";
import { migrations, onlineSteps } from "../../src/platform/database/migrations";
import { OnlineSteps } from "../../src/platform/database/upgrades/online-steps";
import { openClient } from "../../src/platform/database/connections/open-client";
import { installJobs } from "../../src/platform/jobs/install";
import { prepare } from "../../src/start/prepare";
import { dumped, KEEPING, load, readDump, type Dump, type Told } from "../upgrades/dump";
import { Api } from "../support/api";
import { startApp } from "../support/app";
import { FAST } from "../support/calls";
import { configOf, SECRET_KEY } from "../support/config";
import { statement, type TestDatabase } from "../support/database";
import { newChat, said } from "../support/factories";
import { Receiver } from "../support/receiver";
import { roomiest } from "../support/roomiest";
import { rows } from "../support/suite";
import { until } from "../support/until";

const names = Object.keys(migrations);
const BASE = `upgrades_${process.pid}`;
const urlOf = (name: string) =>
  Object.assign(new URL(process.env.TEST_POSTGRES!), { pathname: `/${name}` }).href;
const logger = pino({ level: "silent" });

/** Migrates the empty database by which each dump begins; its migrations run in order, once. */
async function migrateBase(last: string): Promise<void> {
  const db = connect(urlOf(BASE), { pool: 1 });
  await migrateTo(db, names.slice(0, names.indexOf(last) + 1)).finally(() => db.destroy());
}

/** Creates the database of a dump, as its version left it. */
async function restore(dump: Dump): Promise<TestDatabase> {
  await migrateBase(dump.migration);
  const name = `${BASE}_${dump.migration.slice(0, 3)}`;
  await statement(process.env.TEST_POSTGRES!, `create database ${name} template ${BASE} strategy file_copy`);
  const url = urlOf(name);
  if (dump.migration === "014-begun-jobs") await makeTableOf014(url);
  const client = await openClient(url, "restore");
  await load(client, dump).finally(() => client.end());
  const pool = new pg.Pool({ connectionString: url });
  pool.on("error", () => undefined);
  return {
    url,
    jobsUrl: url,
    ownerUrl: url,
    query: async (text, values) => (await pool.query(text, values)).rows as never,
    drop: async () => {
      await pool.end();
      await statement(process.env.TEST_POSTGRES!, `drop database if exists ${name} with (force)`);
    },
  };
}

/** The first form of 014 created a table, which 015 creates now if it is missing. */
async function makeTableOf014(url: string): Promise<void> {
  const db = connect(url, { pool: 1 });
  await Promise.resolve(migrations["015-begun-jobs-apart"]!.up(db)).finally(() => db.destroy());
}

/** Rows by table. */
async function countRows(database: TestDatabase): Promise<Record<string, number>> {
  const tables = await database.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'knex%' order by 1",
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables)
    counts[name] = (await database.query<{ count: number }>(`select count(*)::int from ${name}`))[0]!.count;
  return counts;
}

/** Tables whose rows the newest version makes from others. */
const DERIVED = ["templates", "online_steps", "stored_sizes", "log_blocks", "log_changes"];

/** Upgrades as the start of a server does, with all online steps. */
async function upgrade(database: TestDatabase): Promise<void> {
  const before = await countRows(database);
  await prepare(configOf(), database.url);
  const steps = new OnlineSteps(database.url, logger, onlineSteps, 1);
  await steps.ended();
  expect(steps.pending()).toEqual([]);
  const after = await countRows(database);
  for (const table of DERIVED) delete before[table];
  expect(after).toMatchObject(before);
}

/** Fields that change with time, and one that early versions told beyond the documented interface. */
const VARIES = ["analyticUrl", "durationSeconds", "lengthSeconds", "organizationId", "url", "updatedAt"];

interface Log {
  readonly id: unknown;
  readonly type: unknown;
  readonly metadata: { readonly status?: unknown };
}

/** The part of an answer that an upgrade must not change. Calls that were live go on. */
const lasting = (body: unknown) =>
  JSON.parse(
    JSON.stringify(body, (key, value: unknown) => {
      if (VARIES.includes(key)) return undefined;
      const { id, type, metadata } = Object(value) as Partial<Log>;
      return type === "VOICE" && metadata?.status !== "ended" ? { id } : value;
    }),
  ) as unknown;

/** The old version's answers are part of those of the new one. */
async function expectSameAnswers(api: Api, told: readonly Told[]): Promise<void> {
  for (const { path, body } of told) {
    const { body: now } = await api.request("GET", path);
    expect({ path, body: now as unknown }).toMatchObject({ path, body: lasting(body) });
  }
}

const settings = { ...FAST, ...KEEPING, OUTBOUND_ALLOW: "127.0.0.0/8" };

describe("a database as an earlier version left it", () => {
  const receiver = new Receiver();
  const dataDir = mkdtempSync(join(roomiest(), "parley-upgrades-"));
  const some = rows(dumped(), 3);
  /** The first and the newest are always among them. */
  const sample = [...new Set([...some.rows, dumped().at(-1)!])];

  beforeAll(async () => {
    await statement(process.env.TEST_POSTGRES!, `create database ${BASE}`);
    await migrateBase(names[0]!);
    await installJobs(urlOf(BASE), { waitMs: 1_000, migration: "graphile-worker" });
    await receiver.start();
  });
  afterAll(async () => {
    await receiver.stop();
    await statement(process.env.TEST_POSTGRES!, `drop database if exists ${BASE} with (force)`);
    rmSync(dataDir, { recursive: true, force: true });
  });

  test.each(sample)(
    `with migration %s is upgraded, and gives the same answers as before (${some.title})`,
    async (name) => {
      const dump = readDump(name);
      const database = await restore(dump);
      try {
        await upgrade(database);
        const pending = await makeDue(database, receiver.url);
        putFiles(dump);
        const app = await startApp(database, { ...settings, DATA_DIR: dataDir });
        try {
          await expectSameAnswers(app.api, dump.told);
          await expectKeys(app.url, dump.keys);
          await expectFiles(app.api, app.url);
          await expectConversations(app.api, database);
          await receiver.until(pending.length, ({ headers }) =>
            pending.includes(String(headers["webhook-id"])),
          );
          await until(async () => (await pendingIn(database, pending)).length === 0);
        } finally {
          await app.stop();
        }
      } finally {
        await database.drop();
      }
    },
  );

  function putFiles({ files }: Dump): void {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(dataDir, path)), { recursive: true });
      writeFileSync(join(dataDir, path), Buffer.from(content, "base64"));
    }
  }
});

/** Makes all deliveries due and lets conversations have been used lately. @returns the ids of their events */
async function makeDue(database: TestDatabase, url: string): Promise<string[]> {
  await database.query("update webhook_destinations set url = $1", [url]);
  await database.query("update chats set last_message_at = now() where status = 'in-progress'");
  await database.query("update delivery_queues set due_at = now(), claim = null");
  const due = await database.query<{ id: string }>(
    "update deliveries set next_attempt_at = now(), claimed_until = null where status = 'PENDING' returning event_id as id",
  );
  return due.map(({ id }) => id);
}

const pendingIn = (database: TestDatabase, ids: readonly string[]) =>
  database.query("select from deliveries where status = 'PENDING' and event_id = any($1)", [ids]);

async function expectKeys(url: string, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const { status } = await new Api(url, { "X-API-Key": key }).request("GET", "/rest/v1/assistants");
    expect([200, 403]).toContain(status); // PUBLIC keys are known, but may not list
  }
  const { status } = await new Api(url, { "X-API-Key": `${SECRET_KEY}x` }).request(
    "GET",
    "/rest/v1/assistants",
  );
  expect(status).toBe(401);
}

async function expectFiles(api: Api, url: string): Promise<void> {
  const { data } = await api.get("/rest/v1/files?take=50", 200);
  for (const { id } of data) {
    const link = await api.get(`/rest/v1/files/${id}/download`, 200);
    const { pathname, search } = new URL(link.url ?? link, url);
    expect(await (await fetch(url + pathname + search)).text()).toBe("An apple costs 2 francs.");
  }
}

/** Live chats go on, and new ones begin. */
async function expectConversations(api: Api, database: TestDatabase): Promise<void> {
  const live = await database.query<{ id: string; assistantId: string }>(
    `select id, assistant_id as "assistantId" from chats where status = 'in-progress' and channel = 'TEXT'`,
  );
  const [assistant] = await database.query<{ id: string }>("select id from assistants limit 1");
  const made = { id: await newChat(api, assistant!.id), assistantId: assistant!.id };
  for (const { id, assistantId } of [...live, made]) {
    await api.post("/rest/v1/ai-chats/messages?wait=true", said(id, "Are you still open?", "USER"), 201);
    const log = await api.get(`/rest/v1/assistants/${assistantId}/log/${id}`, 200);
    expect(log.messages.items.at(-1)).toMatchObject({ role: "ASSISTANT" });
  }
}
