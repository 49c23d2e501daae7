import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Knex } from "knex";
import type pg from "pg";
import pino from "pino";
import { connect } from "../../src/platform/database/connections/connect";
import { migrate, migrateTo } from "../../src/platform/database/upgrades/migrate";
import { migrations, onlineSteps } from "../../src/platform/database/migrations";
import type { OnlineStep } from "../../src/platform/database/migrations/online-step";
import { OnlineSteps } from "../../src/platform/database/upgrades/online-steps";
import { openClient } from "../../src/platform/database/connections/open-client";
import { trySwitch } from "../../src/platform/database/upgrades/try-switch";
import { statement } from "../support/database";
import { until } from "../support/until";

const name = `online_${randomBytes(6).toString("hex")}`;
const url = new URL(process.env.TEST_POSTGRES!);
url.pathname = `/${name}`;
const names = Object.keys(migrations);
const FIRST = "043-online-steps";
const logger = pino({ level: "silent" });
let db: Knex;

beforeAll(async () => {
  await statement(process.env.TEST_POSTGRES!, `create database ${name}`);
  db = connect(url.href, { pool: 2 });
  await migrateTo(db, names.slice(0, names.indexOf(FIRST)));
  await db.raw(`insert into organizations (id, name) values ('o', 'O')`);
  await db.raw(`insert into assistants (organization_id, id, name) values ('o', 'a', 'Ada')`);
  await db.raw(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label)
     select 'o', 'c' || n, 'a', 'TEXT', 'ended', 'none', repeat('x', 400) from generate_series(1, 3000) n`,
  );
});
afterAll(async () => {
  await db?.destroy();
  await statement(process.env.TEST_POSTGRES!, `drop database if exists ${name} with (force)`);
});

const opened: pg.Client[] = [];
const started: OnlineSteps[] = [];
const start = (steps?: readonly OnlineStep[]) => {
  const runner = new OnlineSteps(url.href, logger, steps, 100);
  started.push(runner);
  return runner;
};
afterEach(async () => {
  for (const runner of started.splice(0)) await runner.stop();
  for (const client of opened.splice(0)) await client.end();
});

const inOrder = (columns: string) =>
  db("pg_indexes").select("indexname").whereLike("indexdef", `%chats USING btree (${columns})`);

describe("steps of migrations that take long", () => {
  test("wait for a running server if the table is large, and are part of the migration if it is small", async () => {
    await migrate(url.href, () => Promise.resolve());
    expect(await inOrder("organization_id, started_at, id")).toEqual([]);
    const runner = start();
    await runner.ended();
    expect(runner.pending()).toEqual([]);
    expect(await inOrder("organization_id, started_at, id")).toHaveLength(1);
  });

  test("build an index again whose build broke off", async () => {
    const [{ name: index }] = onlineSteps as [OnlineStep];
    await db.raw(`update pg_index set indisvalid = false where indexrelid = ?::regclass`, [index]);
    await start().ended();
    expect(await db("pg_index").whereRaw("indexrelid = ?::regclass", [index])).toMatchObject([
      { indisvalid: true },
    ]);
  });

  test("leave reads and writes alone while an index waits for an open transaction, and go on after a stop", async () => {
    await db.raw(`drop index chats_of_organization_by_age`);
    const open = await db.transaction();
    await open("chats").where({ id: "c2" }).update({ label: "Not committed yet" });
    const runner = start();
    const waits = `select from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock'`;
    await until(async () => (await db.raw<{ rows: unknown[] }>(waits)).rows.length === 1);
    expect(runner.pending()).toContain("chats_of_organization_by_age");
    await db("chats").where({ id: "c1" }).update({ label: "Written meanwhile" });
    await runner.stop();
    expect(runner.pending()).toContain("chats_of_organization_by_age");
    await open.rollback();
    const next = start();
    await next.ended();
    expect(next.pending()).toEqual([]);
  });

  test("are repeated after PostgreSQL has ended their connection", async () => {
    await db.raw(`drop index chats_of_organization_by_age`);
    const open = await db.transaction();
    await open("chats").where({ id: "c2" }).update({ label: "Not committed yet" });
    const runner = start();
    const waits = `select pid from pg_stat_activity
      where query similar to '(create|drop) index concurrently%' and wait_event_type = 'Lock'`;
    const waiting = async () => (await db.raw<{ rows: { pid: number }[] }>(waits)).rows;
    await until(async () => (await waiting()).length === 1);
    const [{ pid }] = (await waiting()) as [{ pid: number }];
    await db.raw(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'parley online steps' and datname = current_database()`);
    await until(async () => (await waiting()).some((next) => next.pid !== pid));
    await open.rollback();
    await runner.ended();
    expect(runner.pending()).toEqual([]);
  });

  test("change rows in batches, once each, with two servers and a failure in between", async () => {
    let batches = 0;
    const step: OnlineStep = {
      kind: "backfill",
      name: "labels",
      table: "chats",
      batch: async (trx, cursor) => {
        if (++batches === 3) throw new Error("The connection broke.");
        const { rows } = await trx.raw<{ rows: { id: string }[] }>(
          `update chats set label = label || '!' where id in (select id from chats where id > ? order by id limit 500) returning id`,
          [(cursor as string | null) ?? ""],
        );
        return (
          rows
            .map(({ id }) => id)
            .sort()
            .at(-1) ?? null
        );
      },
    };
    const failing = start([step]);
    await until(() => batches === 3);
    await failing.stop();
    const counted = async (label: string) => {
      const { rows } = await db.raw<{ rows: { count: number }[] }>(
        "select count(*)::int from chats where label like ?",
        [label],
      );
      return rows[0]!.count;
    };
    expect(await counted("%!")).toBe(1_000);
    await Promise.race([start([step]), start([step])].map((runner) => runner.ended()));
    expect(await counted("%!")).toBe(3_000);
    expect(await counted("%!!")).toBe(0);
    await start([step]).ended();
    expect(batches).toBe(3 + 4 + 1);
  });

  test("switch once no older server has been connected for a while, and stay switched", async () => {
    const older = "parley listener sums,1a2b3c4d";
    const step = { kind: "switch", name: "switched", mark: "recipe" } as const;
    const [first, second] = [await openClient(url.href, older), await openClient(url.href, older)];
    await openClient(url.href, "parley listener sums,recipe,1a2b3c4d").then((one) => opened.push(one));
    const runner = start([step]);
    const looked = async () => (await db("online_steps").where({ name: step.name })).length > 0;
    await until(looked);
    await first.end();
    for (let looks = 0; looks < 3; looks++) expect(await trySwitch(db, step, 0)).toBe(false);
    expect(runner.pending()).toEqual([step.name]);
    await second.end();
    await runner.ended();
    expect(runner.pending()).toEqual([]);
    opened.push(await openClient(url.href, older));
    await start([step]).ended();
  });
});
