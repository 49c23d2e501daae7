import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Knex } from "knex";
import pg from "pg";
import { connect } from "../../src/platform/database/connections/connect";
import type { LockLimits } from "../../src/platform/database/upgrades/lock-waits";
import { migrate, migrationSource } from "../../src/platform/database/upgrades/migrate";
import { tooOld } from "../../src/platform/database/connections/suitable";
import { migrations } from "../../src/platform/database/migrations";
import { prepare } from "../../src/start/prepare";
import { openClient } from "../../src/platform/database/connections/open-client";
import { configOf } from "../support/config";
import { JOBS_TABLE } from "../support/jobs";
import { until } from "../support/until";

const name = `empty_${randomBytes(6).toString("hex")}`;
const url = new URL(process.env.TEST_POSTGRES!);
url.pathname = `/${name}`;
const APART = "015-begun-jobs-apart";
let db: Knex;

async function asOwner(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.TEST_POSTGRES });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

beforeAll(async () => {
  await asOwner(`create database ${name}`);
  db = connect(url.href, { pool: 2 });
});
afterAll(async () => {
  await db?.destroy();
  await asOwner(`drop database if exists ${name} with (force)`);
});

/** Everything that migrations create, except Knex's own tables. */
async function made(): Promise<string[]> {
  const { rows } = (await db.raw(`
    select 'column ' || table_schema || '.' || table_name || '.' || column_name || ' ' || data_type || ' '
        || is_nullable || ' ' || coalesce(column_default, '') as thing
      from information_schema.columns where table_schema not in ('pg_catalog', 'information_schema')
    union all select 'index ' || indexdef from pg_indexes where schemaname not in ('pg_catalog', 'information_schema')
    union all select 'policy ' || tablename || ' ' || qual from pg_policies
    union all select 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid)
      from pg_constraint where connamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
    order by thing`)) as { rows: { thing: string }[] };
  return rows.map(({ thing }) => thing).filter((thing) => !thing.includes("knex_migrations"));
}

describe("migrations", () => {
  test("create everything in an empty database, undo it, and create the same again", async () => {
    expect(await made()).toEqual([]);
    await migrate(url.href, () => Promise.resolve());
    const first = await made();
    expect(first.length).toBeGreaterThan(100);
    await db.migrate.rollback({ migrationSource }, true);
    expect(await made()).toEqual([]);
    await migrate(url.href, () => Promise.resolve());
    expect(await made()).toEqual(first);
  });

  test("run once each, in order of their names", async () => {
    const [done] = (await db.migrate.list({ migrationSource })) as [{ name: string }[], unknown[]];
    expect(done.map(({ name }) => name)).toEqual(Object.keys(migrations));
    expect(Object.keys(migrations)).toEqual(Object.keys(migrations).sort());
  });

  test("count messages from before there were statistics, including failed functions", async () => {
    for (const name of ["070-delivery-sums", "045-analytics-sums", "009-analytics"])
      await db.migrate.down({ migrationSource, name });
    await db.raw(`insert into organizations (id, name) values ('old', 'Old')`);
    await db.raw(`insert into assistants (organization_id, id, name) values ('old', 'a', 'Ada')`);
    await db.raw(
      `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, ended_at)
       values ('old', 'c', 'a', 'TEXT', 'ended', 'none', now())`,
    );
    await db.raw(`
      insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content, tool_call_id, tool_calls)
      values ('old', 'm1', 'c', 'a', 1, 'ASSISTANT', 'TEXT', null, null, '[{"id": "1", "name": "book"}, {"id": "2", "name": "book"}]'),
        ('old', 'm2', 'c', 'a', 2, 'TOOL', 'TEXT', 'The function answered with status 500.', '1', null),
        ('old', 'm3', 'c', 'a', 3, 'TOOL', 'TEXT', '{"status": "booked"}', '2', null)`);
    await migrate(url.href, () => Promise.resolve());
    const counted = () =>
      db("function_facts").select("name", "calls", "failed").where({ organizationId: "old" });
    expect(await counted()).toEqual([{ name: "book", calls: 2, failed: 1 }]);
    await db.raw("select parley_keep_facts(500)");
    expect(await counted()).toEqual([{ name: "book", calls: 2, failed: 1 }]);
    expect(await db("function_facts_kept").where({ organizationId: "old" })).toHaveLength(1);
    await db("organizations").where({ id: "old" }).delete();
  });

  test.each([
    ["lacks it", () => db.migrate.down({ migrationSource, name: APART })],
    [
      "has it from an earlier version of the migration",
      () => db("knex_migrations").where({ name: APART }).delete(),
    ],
  ])("move started jobs to a table of their own in a database that %s", async (_, before) => {
    await before();
    await migrate(url.href, () => Promise.resolve());
    await db.raw("select parley_begin('test', '{}', null, 6, 'a-worker')");
    expect(await db("begun_jobs").select("task", "worker")).toEqual([{ task: "test", worker: "a-worker" }]);
    await db("begun_jobs").delete();
    await db("sole_jobs").delete();
  });

  test("run in one of three instances that start at once; there is one default organization", async () => {
    const starts = [1, 2, 3].map(() => prepare(configOf(), url.href));
    expect((await Promise.all(starts)).filter((organization) => organization !== undefined)).toHaveLength(1);
    expect(await prepare(configOf(), url.href)).toBeUndefined();
    expect(await db("organizations").where({ isDefault: true })).toHaveLength(1);
    expect(await db("templates")).toHaveLength(6);
  });

  test("enable row-level security for every table of organizations", async () => {
    const { rows } = (await db.raw(`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'organization_id'
        and not c.relrowsecurity`)) as {
      rows: { name: string }[];
    };
    expect(rows).toEqual([]);
  });
});

describe("migrations that wait for the transaction of an older server", () => {
  const PENDING = ["049-bounded-deletion", "048-composed-events"];
  let older: pg.Client;
  /** Lines about tries in vain. */
  const told: unknown[] = [];
  const run = (limits: LockLimits) =>
    migrate(url.href, () => Promise.resolve(), {
      logger: { warn: (facts: object) => void told.push(facts) },
      limits,
    });

  beforeEach(async () => {
    told.length = 0;
    for (const name of PENDING) await db.migrate.down({ migrationSource, name });
    older = await openClient(url.href, "parley 1");
    await older.query("begin; select from events limit 1");
  });
  afterEach(() => older.end());

  test("let others read between their tries, name the session, and run when it has ended", async () => {
    const migrated = run({ waitMs: 200, vacuumWaitMs: 2_000, pauseMs: 200, totalMs: 60_000 });
    let reads = 0;
    await until(async () => {
      await db("events").first();
      reads++;
      return told.length >= 3;
    });
    expect(reads).toBeGreaterThan(2);
    const { rows } = await older.query<{ pid: number }>("select pg_backend_pid() as pid");
    const blocking = [{ pid: rows[0]!.pid, application: "parley 1", seconds: expect.any(Number) }];
    expect(told[0]).toEqual({ migration: "048-composed-events", blocking, retrySeconds: 0.2 });
    await older.query("commit");
    await migrated;
    expect(await db.schema.hasColumn("events", "recipe")).toBe(true);
  });

  test("end the start with the session and the remedy, and change nothing, if it does not end", async () => {
    await expect(run({ waitMs: 200, vacuumWaitMs: 2_000, pauseMs: 200, totalMs: 300 })).rejects.toThrow(
      /^The migration 048-composed-events waited 1 min for the locks of other transactions and has changed nothing\.\n {2}- session (\d+) \("parley 1"\), transaction open for \d+ s\nLet these transactions end, or end their sessions \(SELECT pg_terminate_backend\(\1\);\)\. Then start again\.$/,
    );
    expect(await db.schema.hasColumn("events", "recipe")).toBe(false);
    await older.query("commit");
    await run({ waitMs: 200, vacuumWaitMs: 2_000, pauseMs: 200, totalMs: 60_000 });
    expect(await db.schema.hasColumn("events", "recipe")).toBe(true);
  });
});

describe("migrations of tables that clients use in another order", () => {
  const PENDING = ["054-tool-servers", "053-chosen-events"];
  beforeEach(async () => {
    for (const name of PENDING) await db.migrate.down({ migrationSource, name });
  });

  test.each([
    ["one of them", ["assistants"]],
    ["one or the other of them", ["assistants", "webhook_destinations"]],
  ])("run while there is always a client that has used %s and waits for the other", async (_, firsts) => {
    let isOver = false;
    const isDeadlock = (error: unknown) => expect(error).toMatchObject({ code: "40P01" }); // servers repeat it
    const use = async (first: string) => {
      const client = await openClient(url.href, "parley client");
      const second = first === "assistants" ? "webhook_destinations" : "assistants";
      while (!isOver) {
        await client.query(`begin; select from ${first} limit 1; select pg_sleep(0.05)`);
        await client.query(`select from ${second} limit 1; commit`).catch(isDeadlock);
        await client.query("rollback");
      }
      await client.end();
    };
    const clients = firsts.flatMap((first) => [use(first), use(first), use(first)]);
    const limits = { waitMs: 200, vacuumWaitMs: 2_000, pauseMs: 100, totalMs: 20_000 };
    await migrate(url.href, () => Promise.resolve(), { logger: { warn: () => undefined }, limits }).finally(
      () => (isOver = true),
    );
    await Promise.all(clients);
    expect(await db.schema.hasColumn("assistants", "tool_servers")).toBe(true);
  });
});

describe("tables that a start makes after the migrations", () => {
  let older: pg.Client;
  /** Lines about tries in vain. */
  const told: unknown[] = [];
  const start = () =>
    prepare(configOf(), url.href, false, undefined, {
      warn: (facts: object) => void told.push(facts),
    } as never);

  beforeEach(async () => {
    told.length = 0;
    await start();
    older = await openClient(url.href, "parley 1");
  });
  afterEach(() => older.end());

  /** Takes the database back to before graphile-worker's migration 18. */
  const beforeJobs = `
    delete from graphile_worker.migrations where id >= 18;
    create function graphile_worker.tg_jobs__after_insert() returns trigger language plpgsql as $$ begin return new; end $$;
    create trigger _900_after_insert after insert on graphile_worker.${JOBS_TABLE}
      for each statement execute function graphile_worker.tg_jobs__after_insert()`;
  /** A type that pgvector would make. */
  const beforeVectors = "drop table if exists passage_embeddings; create domain vector as text";

  test.each([
    ["jobs", beforeJobs, `graphile_worker.${JOBS_TABLE}`, "graphile-worker"],
    ["vectors", beforeVectors, "passages", "passage_embeddings"],
  ])(
    "for %s let others work while another transaction has their locks",
    async (_, before, table, migration) => {
      await db.raw(before);
      await older.query(`begin; lock table ${table} in row exclusive mode`);
      const started = start();
      await until(async () => {
        await db.raw(`select from ${table} limit 1`);
        return told.length > 0;
      });
      const { rows } = await older.query<{ pid: number }>("select pg_backend_pid() as pid");
      const blocking = [{ pid: rows[0]!.pid, application: "parley 1", seconds: expect.any(Number) }];
      expect(told).toEqual([{ migration, blocking, retrySeconds: 5 }]);
      await older.query("commit");
      await started;
      const { rows: made } = await db.raw<{ rows: object[] }>(
        "select max(id) as jobs, to_regclass('passage_embeddings') is not null as vectors from graphile_worker.migrations",
      );
      expect(made).toEqual([{ jobs: 19, vectors: migration === "passage_embeddings" }]);
    },
  );
});

test("PostgreSQL before 15 is refused with an error that names both versions", () => {
  expect(tooOld(140_022)).toMatch(/is PostgreSQL 14\. Version 15 or later/);
  expect(tooOld(150_000)).toBeUndefined();
});
