import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Knex } from "knex";
import pino from "pino";
import { countLogs, countSome } from "../../src/chats/logs/count-logs";
import { openPool } from "../../src/platform/database/distributed/open-pool";
import { homeOf } from "../../src/platform/database/home";
import { onlineSteps } from "../../src/platform/database/migrations";
import { runBatch, type OnlineStep } from "../../src/platform/database/migrations/online-step";
import { OnlineSteps } from "../../src/platform/database/upgrades/online-steps";
import { openClient } from "../../src/platform/database/connections/open-client";
import { Erasures } from "../../src/privacy/erasure/erasures";
import type { Api } from "../support/api";
import { startApp, useApp, type RunningApp } from "../support/app";
import { createDatabase } from "../support/database";
import { askToForget } from "../support/erasures";
import { endChat, newChat, quietAssistant } from "../support/factories";
import { randomFrom } from "../support/history";
import { afterTest } from "../support/server";
import { until } from "../support/until";

/*
 * Far pages are found by counts of blocks. Random changes of logs, counted at random moments into tiny blocks, must leave
 * each page as if the list were cut at its offset. A failure names its seed and its steps.
 */
const running = useApp();
const STEPS = 40;
/** Enough that the farthest pages have many blocks on both sides. */
const LOGS = 1_500;
const FIRST_FAR = 1_000;
const TINY = { batch: 40, size: 8, most: 12, counted: 32 };
const CHANNELS = ["TEXT", "SMS", "VOICE"];
const DELETE_LOG =
  "mutation ($assistantId: ID!, $id: ID!) { deleteLog(assistantId: $assistantId, id: $id) { id } }";

const step = onlineSteps.find(({ name }) => name === "log_blocks") as OnlineStep & { kind: "backfill" };
let owner: Knex;
beforeAll(async () => {
  owner = await openPool(running.database.ownerUrl, { pool: 1 });
});
afterAll(() => owner.destroy());

/** Counts until nothing is left: a run of the job ends after some time. */
async function countAll({ app: { database } } = running as Pick<RunningApp, "app">): Promise<void> {
  do await countLogs(database, TINY);
  while ((await database.uncountedOrganizations()).length > 0);
}

async function fillBack(): Promise<void> {
  await owner("online_steps").where({ name: step.name }).delete();
  while (await owner.transaction((trx) => runBatch(trx, step)));
}

/** A statement that inserts or deletes chats of the organization $1, and notes them as the service does. */
function noting(change: 1 | -1, statement: string): string {
  const home = homeOf(owner);
  return `
    with changed as (${statement} returning *), noted as (
      insert into log_changes as noted (organization_id, assistant_id, channel, started_at, chat_id, change)
      select ${home.id}, assistant_id, channel, started_at, id, ${change} from changed ${home.join}
      on conflict (organization_id, assistant_id, started_at, chat_id, channel)
        do update set change = noted.change + excluded.change
      returning 1
    ) select count(*) from noted`;
}

const TOTALS = `query ($assistantId: ID!) {
  logs { totalCount } chats { totalCount } calls: logs(filter: { type: VOICE }) { totalCount }
  texts: chats(filter: { channel: TEXT }) { totalCount } own: logs(filter: { assistantId: $assistantId }) { totalCount }
  ownSms: logs(filter: { assistantId: $assistantId, type: SMS }) { totalCount }
}`;
/** The same numbers, from the chats themselves. */
const NUMBERS = `
  select count(*)::int as logs, count(*)::int as chats, count(*) filter (where channel = 'VOICE')::int as calls,
    count(*) filter (where channel = 'TEXT')::int as texts, count(*) filter (where assistant_id = $2)::int as own,
    count(*) filter (where assistant_id = $2 and channel = 'SMS')::int as "ownSms"
  from chats where organization_id = $1`;

/** An organization whose logs change at random. */
class Course {
  readonly steps: string[] = [];
  private imports = 0;

  constructor(
    readonly api: Api,
    readonly organizationId: string,
    readonly assistants: readonly string[],
    readonly random: () => number,
    readonly on: RunningApp,
  ) {}

  readonly pick = <T>(list: readonly T[]): T => list[Math.floor(this.random() * list.length)]!;
  /** Blocks that disagree with the logs. */
  readonly wrong = () => this.query(WRONG, [this.organizationId]);
  readonly scope = () => this.on.app.database.scope(this.organizationId);
  private readonly query: RunningApp["database"]["query"] = (text, values) =>
    this.on.database.query(text, values);

  /** Logs in no order, many of which began at the same moment. */
  async import(count: number, { noted = true } = {}): Promise<void> {
    const prefix = Math.floor(this.random() * 16 ** 6).toString(16);
    const rows = Array.from({ length: count }, (_, n) => ({
      id: `${prefix}-${++this.imports}-${n}`,
      assistant: this.random() < 0.9 ? this.assistants[0] : this.assistants[1],
      channel: this.pick(["TEXT", "TEXT", "TEXT", "TEXT", "SMS"]),
      second: Math.floor(this.random() ** 2 * 400),
    }));
    const statement = `
      insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, started_at, ended_at)
       select $1::text, id, assistant, channel, 'ended', 'none', at, at
       from json_to_recordset('${JSON.stringify(rows)}') as row (id text, assistant text, channel text, second integer),
         lateral (select timestamptz '2026-01-01Z' + second * interval '1 second' as at) at`;
    await this.query(noted ? noting(1, statement) : statement, [this.organizationId]);
  }

  private some = (share: number) =>
    `organization_id = $1 and mod(abs(hashtext(id || '${this.random()}')), 1000) < ${share * 1_000}`;

  readonly changes: Readonly<Record<string, () => Promise<unknown>>> = {
    start: () => newChat(this.api, this.pick(this.assistants), { uniqueId: this.pick(["ann", "bob"]) }),
    import: () => this.import(Math.floor(this.random() * 80)),
    delete: async () => {
      const [log] = await this.query<{ id: string; assistant_id: string }>(
        `select id, assistant_id from chats where status = 'ended' and ${this.some(1)} order by hashtext(id) limit 1`,
        [this.organizationId],
      );
      await this.api.gql(DELETE_LOG, { assistantId: log!.assistant_id, id: log!.id });
    },
    deleteMany: () =>
      this.query(noting(-1, `delete from chats where ${this.some(0.05)}`), [this.organizationId]),
    deleteOld: () =>
      this.query(
        noting(
          -1,
          `delete from chats where organization_id = $1 and started_at < '2026-01-01Z'::timestamptz + $2 * interval '1 second'`,
        ),
        [this.organizationId, this.steps.length],
      ),
    forget: async () => {
      const uniqueId = this.pick(["ann", "bob"]);
      const { id } = await askToForget(this, { uniqueId });
      const chats = await this.query<{ id: string }>(
        "select id from chats where organization_id = $1 and unique_id = $2 and status <> 'ended'",
        [this.organizationId, uniqueId],
      );
      for (const chat of chats) await endChat(this.api, chat.id);
      await this.scope().of(Erasures).run(id);
    },
    undo: () =>
      this.query(
        noting(
          -1,
          `delete from chats where ${this.some(1)} and 1 / (select count(*) from chats where false) > 0`,
        ),
        [this.organizationId],
      ).catch((error: Error) => expect(error.message).toBe("division by zero")),
  };

  readonly jobs: Readonly<Record<string, () => Promise<unknown>>> = {
    countSome: () => countSome(this.scope(), TINY),
    countAll: () => countLogs(this.on.app.database, TINY),
    countTwiceAtOnce: () => Promise.all([1, 2].map(() => countSome(this.scope(), TINY))),
    fillBack,
    crash: () =>
      this.scope()
        .transaction(async (scope) => {
          await countSome(scope, TINY);
          throw new Error("crash");
        })
        .catch((error: Error) => expect(error.message).toBe("crash")),
  };

  async step(): Promise<void> {
    const kind = this.random() < 0.6 ? this.changes : this.jobs;
    const name = this.pick(Object.keys(kind));
    this.steps.push(name);
    await kind[name]!();
  }

  /** Compares the numbers of logs. */
  async checkTotals(): Promise<void> {
    const [assistantId] = this.assistants;
    const found = (await this.api.gql(TOTALS, { assistantId })) as Record<string, { totalCount: number }>;
    const [wanted] = await this.query<Record<string, number>>(NUMBERS, [this.organizationId, assistantId]);
    const totals = Object.fromEntries(
      Object.entries(found).map(([name, { totalCount }]) => [name, totalCount]),
    );
    expect({ after: this.steps.join(" "), ...totals }).toEqual({ after: this.steps.join(" "), ...wanted });
  }

  /** Compares a far page. */
  async check(): Promise<void> {
    const type = this.random() < 0.4 ? this.pick(CHANNELS) : undefined;
    const order = this.pick(["asc", "desc"]);
    const all = await this.query<{ id: string }>(
      `select id from chats where assistant_id = $1 and ($2::text is null or channel = $2)
       order by started_at ${order}, id ${order}`,
      [this.assistants[0], type],
    );
    const take = this.pick([1, 7, 20, 100]);
    const first = Math.ceil(FIRST_FAR / take) + 1;
    const last = Math.max(first, Math.ceil(all.length / take) + 1);
    const page = first + Math.floor(this.random() * (last - first + 1));
    const path = `/rest/v1/assistants/${this.assistants[0]}/logs?order=${order}&take=${take}&page=${page}`;
    const found = (await this.api.get(type ? `${path}&type=${type}` : path, 200)) as { id: string }[];
    const after = `${this.steps.join(" ")}, then ${path} ${type}`;
    const wanted = all.slice((page - 1) * take, page * take);
    expect({ after, ids: found.map(({ id }) => id) }).toEqual({ after, ids: wanted.map(({ id }) => id) });
  }
}

async function courseOf(seed: number, on: RunningApp = running): Promise<Course> {
  const { api, organizationId } = await on.otherOrganization();
  const course = new Course(
    api,
    organizationId,
    [await quietAssistant(api), await quietAssistant(api)],
    randomFrom(seed),
    on,
  );
  await course.import(LOGS, { noted: false }); // as before the migration
  return course;
}

/** Lists of an organization whose blocks, with the changes that are in none, do not contain the logs in their ranges; at one moment. */
const WRONG = `
  with ranges as (
    select b.*, lead(b.from_at, 1, 'infinity') over list as until_at, lead(b.from_id, 1, '') over list as until_id
    from log_blocks b where b.organization_id = $1
    window list as (partition by b.assistant_id, b.channel order by b.from_at, b.from_id)
  )
  select r.assistant_id, r.channel, r.from_at, r.logs from ranges r where r.logs is not null and r.logs <>
    (select count(*) from chats c where c.organization_id = $1
      and c.assistant_id = r.assistant_id and r.channel in ('', c.channel)
      and (c.started_at, c.id) >= (r.from_at, r.from_id) and (c.started_at, c.id) < (r.until_at, r.until_id))
    - (select coalesce(sum(n.change), 0) from log_changes n
      where n.organization_id = $1 and n.assistant_id = r.assistant_id and r.channel in ('', n.channel)
      and (n.started_at, n.chat_id) >= (r.from_at, r.from_id) and (n.started_at, n.chat_id) < (r.until_at, r.until_id))`;

describe("far pages contain the same logs as the list cut at their offset", () => {
  test.each([1, 2, 3, 4])(
    "after every step of a random course, seed %i",
    async (seed) => {
      const course = await courseOf(seed);
      for (let round = 0; round < 5; round++) await course.check();
      for (let step = 0; step < STEPS; step++) {
        await course.step();
        for (let round = 0; round < 4; round++) await course.check();
        // Before, the step is recorded, but this organization has logs that no server has noted.
        if (course.steps.includes("fillBack")) await course.checkTotals();
      }
      await fillBack();
      await countAll();
      expect(await running.database.query("select from log_changes")).toEqual([]);
      expect(await running.database.query("select from log_blocks where logs is null or logs > 12")).toEqual(
        [],
      );
      expect(await course.wrong()).toEqual([]);
      await course.checkTotals();
      for (let round = 0; round < 20; round++) await course.check();
    },
    240_000,
  );
});

describe("blocks", () => {
  test("agree with the logs at each moment while chats start, logs go, and several servers count", async () => {
    const course = await courseOf(9);
    await fillBack();
    let over = 0;
    const repeated = async (work: () => Promise<unknown>) => {
      for (let round = 0; round < 40; round++) await work();
      over++;
    };
    const work = [
      repeated(() => course.import(10)),
      repeated(() => newChat(course.api, course.assistants[0]!)),
      repeated(course.changes.deleteMany!),
      repeated(course.jobs.countSome!),
      repeated(course.jobs.countSome!),
    ];
    while (over < work.length) expect(await course.wrong()).toEqual([]);
    await Promise.all(work);
    await countAll();
    expect(await running.database.query("select from log_blocks where logs is null")).toEqual([]);
    expect(await course.wrong()).toEqual([]);
  });

  test("go with an organization", async () => {
    const course = await courseOf(10);
    await course.import(10);
    await countAll();
    await course.import(10);
    await running.database.query("delete from organizations where id = $1", [course.organizationId]);
    for (const table of ["log_blocks", "log_changes"])
      expect(
        await running.database.query(`select from ${table} where organization_id = $1`, [
          course.organizationId,
        ]),
      ).toEqual([]);
  });
});

test("while a server is connected that notes nothing, no block is made; from its end on, logs are counted", async () => {
  const database = await createDatabase();
  afterTest(() => database.drop());
  await database.query("delete from online_steps where name in ('count_logs', 'log_blocks')");
  const older = await openClient(database.ownerUrl, "parley listener sums,recipe,1a2b3c4d");
  const app = await startApp(database, { WORKER: "off" });
  afterTest(() => app.stop());
  const steps = new OnlineSteps(database.ownerUrl, pino({ level: "silent" }), onlineSteps, 50);
  afterTest(() => steps.stop());
  await until(() => steps.pending().length > 0);
  const course = await courseOf(12, app);
  const looked = async () =>
    (await database.query("select from online_steps where name = 'count_logs'")).length;
  await until(async () => (await looked()) > 0);
  for (let round = 0; round < 5; round++) {
    await course.import(20, { noted: false });
    await course.import(20);
    await course.changes.start!();
    await course.changes.delete!();
    await countLogs(app.app.database, TINY);
    await course.check();
    await course.checkTotals();
  }
  expect(steps.pending()).toEqual(["count_logs", "log_blocks"]);
  expect(await database.query("select from log_blocks")).toEqual([]);
  expect(await database.query("select from log_changes")).not.toEqual([]);
  await older.end();
  await steps.ended();
  await countAll(app);
  expect(await database.query("select from log_changes")).toEqual([]);
  expect((await database.query("select from log_blocks where logs > 0")).length).toBeGreaterThan(100);
  expect(await course.wrong()).toEqual([]);
  await course.checkTotals();
  for (let round = 0; round < 10; round++) await course.check();
});

test("changes after a time without any are moved by a plan for their number", async () => {
  const course = await courseOf(12);
  await fillBack();
  await countAll();
  await running.database.query("vacuum analyze log_changes");
  for (let run = 0; run < 10; run++) await countSome(course.scope(), {});
  for (let part = 0; part < 100; part++) await course.import(200); // one statement of a service has 5 s
  while (await countSome(course.scope(), {}));
  expect(await running.database.query("select from log_changes")).toEqual([]);
  expect(await course.wrong()).toEqual([]);
});

test("many changes after a time with few are moved by a plan for their number", async () => {
  const [course, other] = [await courseOf(13), await courseOf(14)];
  await fillBack();
  await countAll();
  const importMany = async () => {
    for (let part = 0; part < 100; part++) await course.import(200);
  };
  await importMany();
  await other.import(1); // at the end of the table, which then keeps its size
  while (await countSome(course.scope(), {}));
  await running.database.query("vacuum analyze log_changes");
  await importMany();
  while (await countSome(course.scope(), {}));
  expect(await course.wrong()).toEqual([]);
});

test("far pages of a list with more changes than a page adds up are right, too", async () => {
  const course = await courseOf(11);
  await fillBack();
  await countAll();
  for (let part = 0; part < 120; part++) await course.import(200);
  for (let round = 0; round < 10; round++) await course.check();
  await course.checkTotals();
  await countSome(course.scope(), {});
  await course.checkTotals();
  for (let round = 0; round < 10; round++) await course.check();
});
