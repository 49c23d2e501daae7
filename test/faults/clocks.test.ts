import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { periodicTasks } from "../../src/worker/tasks";
import type { Api } from "../support/api";
import { upload } from "../support/files";
import { samplesOf, valueOf } from "../support/metrics";
import { Receiver } from "../support/receiver";
import {
  afterTest,
  afterTests,
  emptyFolder,
  type Env,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  type ServerProcess,
  SETTINGS,
  startServer,
} from "../support/server";
import { until } from "../support/until";
import { LONG, rows } from "../support/suite";

const HOUR = 3_600_000;
const PRELOAD = resolve(__dirname, "../support/skewed-clock.cjs");

/** A server whose own clock differs from the database's by `milliseconds`. */
const skewed = (env: Env, milliseconds: number, over = afterTest): Promise<ServerProcess> =>
  startServer({ ...env, NODE_OPTIONS: `--require ${PRELOAD}`, CLOCK_SKEW_MS: String(milliseconds) }, over);

const openChat = async (api: Api): Promise<string> => {
  const { id: assistantId } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  return (await api.gql(start, { input: { assistantId } })).startChat.id;
};
const say = (api: Api, aiChatId: string, content: string) =>
  api.post(
    "/rest/v1/ai-chats/messages",
    { aiChatId, role: "SYSTEM", channel: "TEXT", content, metadata: {} },
    201,
  );
const receiver = async (): Promise<Receiver> => {
  const started = await new Receiver().start();
  afterTest(() => started.stop());
  return started;
};
/** Postpones the periodic tasks by a number of hours; 0 makes them due. */
const waitFor = (hours: number): Promise<unknown> =>
  database.query(
    `select graphile_worker.add_job(task, run_at => now() + $2 * interval '1 hour', job_key => task) from unnest($1::text[]) as task`,
    [Object.keys(periodicTasks), hours],
  );
/** Number of periodic tasks that are not scheduled within the next hour. */
const outOfTime = async (): Promise<number> => {
  const { rows } = await database.query(
    `select from unnest($1::text[]) as task where not exists (
      select from graphile_worker.jobs where key = task and run_at between now() and now() + interval '1 hour')`,
    [Object.keys(periodicTasks)],
  );
  return rows.length;
};
/** @returns the id of a new destination */
const sendTo = async (api: Api, { url }: Receiver): Promise<string> => {
  const create =
    "mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }";
  return (await api.gql(create, { input: { url, secret: "a secret" } })).createWebhookDestination.id;
};

let env: Env;
let database: pg.Pool;
/** Client of the server whose clock is right. */
let right: Api;
beforeAll(async () => {
  const url = await preparedDatabase(afterTests);
  database = new pg.Pool({ connectionString: url });
  afterTests(() => database.end());
  env = {
    ...SETTINGS,
    DATABASE_URL: url,
    DATA_DIR: emptyFolder(afterTests),
    OUTBOUND_ALLOW: "127.0.0.0/8",
  };
  right = (await skewed(env, 0, afterTests)).api;
}, 2 * SERVER_TIMEOUT_MS);

const CLOCKS = [
  { clock: "two hours ahead", skew: 2 * HOUR, readiness: 503 },
  { clock: "30 seconds behind", skew: -30_000, readiness: 200 },
  { clock: "two hours behind", skew: -2 * HOUR, readiness: 503 },
];

describe.each(rows(CLOCKS, 2).rows)("a server whose clock is $clock", ({ skew, readiness }) => {
  let server: ServerProcess;
  let api: Api;
  beforeAll(async () => {
    server = await skewed(env, skew, afterTests);
    ({ api } = server);
  }, 2 * SERVER_TIMEOUT_MS);
  afterAll(() => server.end("SIGTERM"), SERVER_TIMEOUT_MS);

  test(`answers ${readiness} to /health/ready`, async () => {
    const { clock } = await api.get("/health/ready", readiness);
    expect(clock).toBe(readiness === 200 ? "ok" : "off");
    expect(server.stderr().includes("clock differs")).toBe(readiness === 503);
    expect(await right.get("/health/ready", 200)).toMatchObject({ clock: "ok" });
  });

  test("shows the difference in its metrics", async () => {
    const shown = async (one: Api) => {
      const { text } = await one.request("GET", "/metrics");
      return valueOf(samplesOf(text), "parley_clock_difference_seconds");
    };
    expect(await shown(api)).toBeCloseTo(skew / 1_000, -1);
    expect(await shown(right)).toBeCloseTo(0, -1);
  });

  test(
    "ends idle chats and no active ones",
    async () => {
      const [live, idle] = await Promise.all([openChat(api), openChat(api)]);
      const minutesAgo =
        "update chats set last_message_at = now() - interval '31 minutes', quiet_from = now() - interval '31 minutes' where id = $1";
      await database.query(minutesAgo, [idle]);
      await waitFor(0);
      const statusOf = async (id: string) =>
        (await api.gql("query ($id: ID!) { chat(id: $id) { status } }", { id })).chat.status as string;
      await until(async () => (await statusOf(idle)) === "ended", 3 * SERVER_TIMEOUT_MS);
      expect(await statusOf(live)).toBe("in-progress");
    },
    3 * SERVER_TIMEOUT_MS,
  );

  const missed: [string, number][] = [
    ["was missed", -1.01],
    ["was postponed to a future time by a server of another version", 2],
  ];
  // Each row takes up to a minute: the quick run has only those with a clock ahead, which once did harm.
  if (LONG || skew > 0)
    test.each(missed)(
      "does the periodic work that %s",
      async (_name, hours) => {
        await waitFor(hours);
        await until(async () => (await outOfTime()) === 0, 5 * SERVER_TIMEOUT_MS);
      },
      6 * SERVER_TIMEOUT_MS,
    );

  test(
    "accepts tokens, sessions and links of a server with a correct clock, and vice versa",
    async () => {
      for (const [from, to] of [
        [api, right],
        [right, api],
      ] as const) {
        const { token } = await from.post("/rest/v1/organization/token", { expiresIn: "60s" }, 200);
        await to.as({ Authorization: `Bearer ${token}` }).get("/rest/v1/organization", 200);
        const { id } = await upload(from, { content: "words" });
        const { url } = await from.get(`/rest/v1/files/${id}/download`, 200);
        const { pathname, search } = new URL(url as string);
        expect(await to.request("GET", pathname + search)).toMatchObject({ status: 200, text: "words" });
        const { id: assistantId } = await from.post("/rest/v1/assistants", { name: "Ada" }, 200);
        const session = await from.gql(
          "mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { token } }",
          { input: { assistantId } },
        );
        const visitor = to.as({ Authorization: `Bearer ${session.startWidgetSession.token}` });
        await visitor.gql("{ widgetChats { id } }");
      }
    },
    SERVER_TIMEOUT_MS,
  );

  test(
    "sends each event promptly and once, together with a server with a correct clock",
    async () => {
      const hooks = await receiver();
      const held: (() => void)[] = [];
      hooks.answer((res, _received, number) =>
        number <= 2 ? void held.push(() => res.end("ok")) : void res.end("ok"),
      );
      const destinationId = await sendTo(right, hooks);
      const chats = await Promise.all([openChat(right), openChat(api)]);
      await hooks.until(2, undefined, SERVER_TIMEOUT_MS / 2);
      // While the first two are in flight every further event wakes the dispatchers of both servers.
      for (const word of ["one", "two", "three", "four"])
        for (const chat of chats) for (const server of [api, right]) await say(server, chat, word);
      for (const answer of held) answer();
      const pending = "select id from deliveries where status = 'PENDING' and destination_id = $1";
      await until(async () => (await database.query(pending, [destinationId])).rows.length === 0);
      const ids = hooks.received.map(({ headers }) => headers["webhook-id"]);
      expect(ids.length).toBeGreaterThan(16);
      expect(new Set(ids).size).toBe(ids.length);
    },
    2 * SERVER_TIMEOUT_MS,
  );
});

/** Minutes whose work is watched. */
const MINUTES = LONG ? 3 : 2;
test(
  "among servers with different clocks, only one enqueues the work due each minute",
  async () => {
    await Promise.all(CLOCKS.map(({ skew }) => skewed(env, skew)));
    const jobs = new Map<string, Set<string>>();
    const look = async () => {
      const { rows } = await database.query<{ id: string; minute: string; isNext: boolean }>(
        `select id, run_at::text as minute, run_at = date_trunc('minute', run_at) and run_at <= now() + interval '1 minute' as "isNext"
        from graphile_worker.jobs where key = 'event.sequence'`,
      );
      for (const { id, minute, isNext } of rows) {
        expect([minute, isNext]).toEqual([minute, true]);
        jobs.set(minute, (jobs.get(minute) ?? new Set()).add(id));
      }
    };
    await until(async () => (await look(), jobs.size >= MINUTES), 6 * SERVER_TIMEOUT_MS);
    expect([...jobs.values()].map(({ size }) => size)).toEqual([...jobs.keys()].map(() => 1));
  },
  8 * SERVER_TIMEOUT_MS,
);
