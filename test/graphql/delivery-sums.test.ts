import { describe, expect, test } from "@jest/globals";
import pino from "pino";
import { jobOf } from "../../src/account/audit/note";
import { percentile } from "../../src/chats/analytics/histogram";
import { expireEvents } from "../../src/events/events/expire-events";
import { sumDeliveries } from "../../src/events/events/delivery-sums";
import { onlineSteps } from "../../src/platform/database/migrations";
import { OnlineSteps } from "../../src/platform/database/upgrades/online-steps";
import { openClient } from "../../src/platform/database/connections/open-client";
import { expireRecordings } from "../../src/privacy/retention/expire-recordings";
import type { Api } from "../support/api";
import { startApp, useApp, type RunningApp } from "../support/app";
import { importerOf } from "../support/importers";
import { createDatabase } from "../support/database";
import { endChat, newChat, quietAssistant } from "../support/factories";
import { randomFrom } from "../support/history";
import { afterTest } from "../support/server";
import { until } from "../support/until";

/*
 * Random deliveries, whose results arrive and whose events are deleted, with sums made at random moments, must leave the
 * statistics as if each request counted all deliveries. A failure names its seed and its steps.
 */
const running = useApp();
const STEPS = 40;
const DAY = 86_400_000;
const QUARTER = 900_000;
const DAYS = 5;
const MS = [12, 60, 450, 2_000, 20_000];
/** Bounds of the buckets in the description of `medianMs`. */
const BOUNDS = [50, 100, 200, 400, 800, 1_500, 3_000, 6_000, 10_000];
const ZONES = ["UTC", "Asia/Kathmandu", "Europe/Zurich", "Australia/Lord_Howe", "America/New_York"];
const COUNTS = "deliveries delivered failed pending retried medianMs";
const REPORT = `query ($input: AnalyticsInput!) {
  analytics(input: $input) { webhooks { ${COUNTS} days { date ${COUNTS} } } } }`;
const DELETE_LOG =
  "mutation ($assistantId: ID!, $id: ID!) { deleteLog(assistantId: $assistantId, id: $id) { id } }";

interface Delivery {
  readonly destination_id: string;
  readonly status: "PENDING" | "DELIVERED" | "FAILED";
  readonly attempt: number;
  readonly duration_ms: number | null;
  readonly created_at: Date;
}

/** The statistics of deliveries, counted one at a time. */
function countsOf(all: readonly Delivery[]) {
  const count = (matches: (delivery: Delivery) => boolean) => all.filter(matches).length;
  const times = all.flatMap(({ status, duration_ms: ms }) => (status === "DELIVERED" ? (ms ?? []) : []));
  const buckets = [0, ...BOUNDS].map((from, index) => {
    const to = BOUNDS[index] ?? null;
    return { from, to, count: times.filter((ms) => ms >= from && (to === null || ms < to)).length };
  });
  return {
    deliveries: all.length,
    delivered: count(({ status }) => status === "DELIVERED"),
    failed: count(({ status }) => status === "FAILED"),
    pending: count(({ status }) => status === "PENDING"),
    retried: count(({ attempt }) => attempt > 1),
    medianMs: percentile(buckets, 0.5) ?? null,
  };
}

/** An organization whose deliveries change at random. */
class Course {
  readonly steps: string[] = [];
  private readonly chats: string[] = [];
  private readonly start = Date.now() - DAYS * DAY;

  constructor(
    private readonly on: RunningApp,
    readonly api: Api,
    readonly organizationId: string,
    readonly assistantId: string,
    readonly projectId: string,
    /** The first one belongs to the project. */
    readonly destinationIds: readonly string[],
    readonly random: () => number,
  ) {}

  readonly pick = <T>(list: readonly T[]): T => list[Math.floor(this.random() * list.length)]!;
  private readonly scope = () => this.on.app.database.scope(this.organizationId);
  private readonly query = (sql: string, values: unknown[]) => this.on.database.query(sql, values);

  private readonly sum = (most?: number) => sumDeliveries(this.on.app.database, { most });
  private readonly deleteLog = async () => {
    const id = this.chats.shift();
    if (id !== undefined) await this.api.gql(DELETE_LOG, { assistantId: this.assistantId, id });
  };

  readonly changes: Readonly<Record<string, () => Promise<unknown>>> = {
    /** Events of a conversation, with deliveries at the start of a quarter and within one. */
    send: async () => {
      const chat = await newChat(this.api, this.assistantId, { channel: "TEXT" });
      await endChat(this.api, chat, "ended-by-api");
      this.chats.push(chat);
      const start = this.start + this.random() * (DAYS * DAY - QUARTER);
      const times = Array.from({ length: 6 }, () => {
        const time = start + this.random() * (Date.now() - QUARTER - start);
        return new Date(this.random() < 0.3 ? time - (time % QUARTER) : time);
      });
      await this.forgetSums(new Date(Math.min(...times.map(Number))));
      for (const at of times) await this.deliver(chat, at);
    },
    sendNow: async () => {
      if (this.chats.length > 0) await this.deliver(this.pick(this.chats), new Date());
    },
    settle: () =>
      this.query(
        `update deliveries set status = $2, attempt = attempt + $3, duration_ms = case when $2 = 'DELIVERED' then $4::integer end where (organization_id, id) in (
           select organization_id, id from deliveries where organization_id = $1 and status = 'PENDING' order by id limit 8)`,
        [
          ...[this.organizationId, this.pick(["DELIVERED", "DELIVERED", "FAILED"])],
          ...[this.pick([0, 1]), this.pick(MS)],
        ],
      ),
    deleteLog: this.deleteLog,
    expireEvents: () =>
      expireEvents(this.scope(), this.pick([3, 4]), () => jobOf("retention.enforce", "Event", null)),
    expireRecordings: async () => {
      await this.query(
        `update chats set recording_url = 'https://example.com/a.mp3', started_at = now() - interval '3 days',
           ended_at = now() - interval '3 days' where organization_id = $1 and id = $2`,
        [this.organizationId, this.pick(this.chats)],
      );
      await expireRecordings(this.scope(), 2, jobOf("retention.enforce", "Recording", null));
    },
  };

  readonly jobs: Readonly<Record<string, () => Promise<unknown>>> = {
    sumAll: () => this.sum(),
    sumInSmallSteps: () => this.sum(2),
    sumTwiceAtOnce: () => Promise.all([1, 2].map(() => this.sum(3))),
    sumDuringDeletion: () => Promise.all([this.sum(3), this.deleteLog()]),
  };

  /** As if it were not long after a time. */
  private async forgetSums(time: Date): Promise<void> {
    const since = new Date(Number(time) - (Number(time) % QUARTER));
    for (const change of [
      "delete from delivery_sums where organization_id = $1 and starts_at >= $2",
      "delete from delivery_sum_gaps where organization_id = $1 and starts_at >= $2",
      "update delivery_sum_heads set until = least(until, $2) where organization_id = $1",
    ])
      await this.query(change, [this.organizationId, since]);
  }

  async deliver(chat: string, at: Date): Promise<void> {
    const status = this.pick(["PENDING", "DELIVERED", "DELIVERED", "FAILED"]);
    await this.query(
      `with event as (
         insert into events (organization_id, id, name, type, assistant_id, chat_id, body, created_at)
         values ($1, gen_random_uuid()::text, $2, 'TEXT', $3, $4, '{}', $5) returning id)
       insert into deliveries (organization_id, id, event_id, destination_id, status, attempt, duration_ms, created_at, next_attempt_at)
       select $1, gen_random_uuid()::text, event.id, $6, $7, $8, $9, $5, $5 from event`,
      [
        ...[this.organizationId, this.pick(["session-start", "call-recording"]), this.assistantId, chat, at],
        ...[this.pick(this.destinationIds), status, this.pick([1, 1, 3])],
        status === "DELIVERED" ? this.pick(MS) : null,
      ],
    );
  }

  async step(): Promise<void> {
    const [names, kind] =
      this.random() < 0.6 ? [Object.keys(this.changes), this.changes] : [Object.keys(this.jobs), this.jobs];
    const name = this.pick(names);
    this.steps.push(name);
    await kind[name]!();
  }

  readonly webhooks = async (input: object) => (await this.api.gql(REPORT, { input })).analytics.webhooks;

  /** Compares the statistics of a random period, time zone and project. */
  async check(): Promise<void> {
    const begin = this.start + this.random() * DAYS * DAY;
    const from = new Date(this.random() < 0.5 ? begin - (begin % QUARTER) : begin);
    const to = new Date(
      this.random() < 0.3 ? Date.now() + DAY : Number(from) + 1 + this.random() ** 2 * DAYS * DAY,
    );
    const timezone = this.pick(ZONES);
    const projectId = this.random() < 0.3 ? this.projectId : null;
    const stored = await this.on.database.query<Delivery>(
      "select * from deliveries where organization_id = $1",
      [this.organizationId],
    );
    const wanted = stored.filter(
      ({ created_at: at, destination_id: id }) =>
        at >= from && at < to && (projectId === null || id === this.destinationIds[0]),
    );
    const webhooks = await this.webhooks({ from, to, timezone, projectId });
    const format = new Intl.DateTimeFormat("en-CA", { timeZone: timezone, dateStyle: "short" });
    const days = webhooks.days.map(({ date }: { date: string }) => ({
      date,
      ...countsOf(wanted.filter((delivery) => format.format(delivery.created_at) === date)),
    }));
    const after = this.steps.join(" ");
    expect({ after, ...webhooks }).toEqual({ after, ...countsOf(wanted), days });
  }
}

async function courseOf(seed: number, on: RunningApp = running): Promise<Course> {
  const { api, organizationId } = await on.otherOrganization();
  const assistantId = await quietAssistant(api);
  const { createProject } = await api.gql('mutation { createProject(input: { name: "Shop" }) { id } }');
  const create =
    "mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }";
  const destinations: string[] = [];
  for (const projectId of [createProject.id, null]) {
    // Chooses an event that no step causes, so that only the steps add deliveries.
    const input = {
      projectId,
      url: "https://hooks.example.com/",
      secret: "shared",
      events: ["function-call"],
    };
    destinations.push((await api.gql(create, { input })).createWebhookDestination.id);
  }
  return new Course(on, api, organizationId, assistantId, createProject.id, destinations, randomFrom(seed));
}

describe("statistics equal those counted from the deliveries", () => {
  test.each([1, 2, 3])(
    "after every step of a random course, seed %i",
    async (seed) => {
      const course = await courseOf(seed);
      await course.changes.send!();
      for (let step = 0; step < STEPS; step++) {
        await course.step();
        await course.check();
      }
      await running.database.query("update deliveries set status = 'FAILED' where status = 'PENDING'");
      await sumDeliveries(running.app.database);
      for (let round = 0; round < 5; round++) await course.check();
      expect(await running.database.query("select from delivery_sum_gaps")).toEqual([]);
    },
    240_000,
  );
});

test("sums leave out the last minutes, whose transactions may not have ended", async () => {
  const { database, app } = running;
  const course = await courseOf(9);
  const heads = () =>
    database.query<{ until: Date }>("select until from delivery_sum_heads where organization_id = $1", [
      course.organizationId,
    ]);
  await course.changes.send!();
  await course.changes.sendNow!();
  await sumDeliveries(app.database);
  const [head] = await heads();
  expect(Number(head!.until) % QUARTER).toBe(0);
  expect(Number(head!.until)).toBeLessThanOrEqual(Date.now() - 10 * 60_000);
  await course.check();
});

test("while a server is connected that leaves no gaps, nothing is summed; from its end on, deliveries are", async () => {
  const database = await createDatabase();
  afterTest(() => database.drop());
  await database.query("update online_steps set done_at = null where name = 'count_deliveries'");
  const older = await openClient(database.ownerUrl, "parley listener sums,recipe,blocks,versions,1a2b3c4d");
  const app = await startApp(database, { WORKER: "off" });
  afterTest(() => app.stop());
  const steps = new OnlineSteps(database.ownerUrl, pino({ level: "silent" }), onlineSteps, 50);
  afterTest(() => steps.stop());
  await until(() => steps.pending().length > 0);
  const course = await courseOf(10, app);
  await course.changes.send!();
  await sumDeliveries(app.app.database);
  expect(await database.query("select from delivery_sum_heads")).toEqual([]);
  await course.check();
  await older.end();
  await steps.ended();
  await sumDeliveries(app.app.database);
  expect(await database.query("select from delivery_sum_heads")).toHaveLength(1);
  await course.check();
});

test("deliveries to a destination that an import brings back are counted again", async () => {
  const { database, app } = running;
  const course = await courseOf(12);
  for (let round = 0; round < 3; round++) await course.changes.send!();
  await database.query("update deliveries set status = 'FAILED' where status = 'PENDING'");
  await sumDeliveries(app.database);
  const [, id] = course.destinationIds;
  await course.api.gql("mutation ($id: ID!) { deleteWebhookDestination(id: $id) { id } }", { id });
  const importer = await importerOf(course.api);
  const input = { id, url: "https://hooks.example.com/", secret: "shared", events: ["function-call"] };
  await importer.gql(
    "mutation ($input: ImportWebhookDestinationInput!) { importWebhookDestination(input: $input) { id } }",
    { input },
  );
  for (let round = 0; round < 5; round++) await course.check();
  await sumDeliveries(app.database);
  for (let round = 0; round < 5; round++) await course.check();
});

test("sums go with their destination and their organization", async () => {
  const { database, app } = running;
  const course = await courseOf(11);
  const left = async (table: string) =>
    (await database.query(`select from ${table} where organization_id = $1`, [course.organizationId])).length;
  for (let round = 0; round < 3; round++) await course.changes.send!();
  await sumDeliveries(app.database);
  const before = await left("delivery_sums");
  await database.query("delete from projects where id = $1", [course.projectId]);
  expect(await left("delivery_sums")).toBeLessThan(before);
  const stay = await database.query(
    `select from deliveries d join webhook_destinations w on w.organization_id = d.organization_id and w.id = d.destination_id
     where d.organization_id = $1`,
    [course.organizationId],
  );
  expect((await course.webhooks({ from: new Date(Date.now() - 6 * DAY) })).deliveries).toBe(stay.length);
  await database.query("delete from organizations where id = $1", [course.organizationId]);
  for (const table of ["delivery_sums", "delivery_sum_gaps", "delivery_sum_heads"])
    expect(await left(table)).toBe(0);
});
