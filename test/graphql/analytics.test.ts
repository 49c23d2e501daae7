import { beforeAll, describe, expect, test } from "@jest/globals";
import { addFacts } from "../../src/chats/analytics/add-facts";
import { keepFacts, sumFacts } from "../../src/chats/analytics/keep-facts";
import { useApp } from "../support/app";
import type { Api } from "../support/api";
import { endChat, newAssistant, newChat, quietAssistant, say, UNKNOWN_ID } from "../support/factories";
import { randomFrom, randomHistory, store, type PastChat, type PastMessage } from "../support/history";

const running = useApp();

const SUMMARY = `conversations live messages averageMessages averageSeconds questions unanswered notKnown errors noAnswer
  answerTimes { count averageMs p50Ms p90Ms p95Ms p99Ms buckets { from to count } }`;
const EVERYTHING = `query ($input: AnalyticsInput!) { analytics(input: $input) {
  from to totals { ${SUMMARY} }
  days { date ${SUMMARY} channels { channel conversations } }
  assistants { assistantId name deleted conversations messages questions unanswered }
  endReasons { reason conversations }
  lengths { messages { from to count } seconds { from to count } }
  functions { name calls succeeded failed }
  unansweredQuestions(first: 100) { messageId chatId question answer reason askedAt } } }`;

const DAY = 86_400_000;
const FROM = new Date("2026-03-25T10:20:30.000Z"); // summer time begins in Europe within the period
const TO = new Date(FROM.getTime() + 8 * DAY);
let ids: { staff: string; project: string; deleted: string; projectId: string; organizationId: string };
let history: PastChat[];

const report = async (input: object, api: Api = running.api) => {
  const { analytics } = await api.gql(EVERYTHING, { input: { from: FROM, to: TO, ...input } });
  return analytics;
};

beforeAll(async () => {
  const { api, database } = running;
  const { createProject } = await api.gql('mutation { createProject(input: { name: "Shop" }) { id } }');
  const [staff, project, deleted] = await Promise.all([
    newAssistant(api, { name: "Front desk" }),
    newAssistant(api, { name: "Shop" }),
    newAssistant(api, { name: "Gone" }),
  ]);
  const IN_PROJECT = `mutation ($id: ID!, $projectId: ID!) { updateAssistant(id: $id, input: { projectId: $projectId }) { id } }`;
  await api.gql(IN_PROJECT, { id: project, projectId: createProject.id });
  await api.delete(`/rest/v1/assistants/${deleted}`, 200);
  const { id: organizationId } = await api.get("/rest/v1/organization", 200);
  ids = { staff, project, deleted, projectId: createProject.id, organizationId };
  const assistantIds = [staff, staff, project, deleted];
  const around = {
    assistantIds,
    count: 300,
    from: new Date(FROM.getTime() - DAY),
    days: 10,
    prefix: "0ff1ce",
  };
  history = randomHistory(randomFrom(7), around);
  await store(database, organizationId, history);
  // The chats of another organization must not be counted.
  const other = await running.otherOrganization();
  const theirs = await newAssistant(other.api);
  const strange = { ...around, assistantIds: [theirs], count: 50, prefix: "57a9e" };
  await store(database, other.organizationId, randomHistory(randomFrom(8), strange));
});

/** Expected statistics, counted message by message. */
function expected(chats: readonly PastChat[]) {
  const spoken = ({ messages }: PastChat) =>
    messages.filter(({ role, content }) => (role === "USER" || role === "ASSISTANT") && content);
  const questions = chats.flatMap((chat) =>
    chat.messages.flatMap((message, place) => {
      if (message.role !== "USER" || !message.content) return [];
      const answer = chat.messages
        .slice(place + 1)
        .find(({ role, content }) => role === "ASSISTANT" && content);
      const reason = !answer
        ? chat.endedAt && "NO_ANSWER"
        : answer.metadata.error
          ? "ERROR"
          : /don't know|weiß ich leider nicht|ne sais pas/.test(answer.content!)
            ? "NOT_KNOWN"
            : undefined;
      const ms =
        answer && reason !== "ERROR" ? answer.createdAt.getTime() - message.createdAt.getTime() : undefined;
      return [{ messageId: message.id, reason: reason ?? undefined, ms }];
    }),
  );
  const times = questions.flatMap(({ ms }) => (ms === undefined ? [] : [ms]));
  const because = (wanted: string) => questions.filter(({ reason }) => reason === wanted).length;
  const ended = chats.filter(({ endedAt }) => endedAt);
  const seconds = ended.map((chat) => lengthOf(chat, spoken(chat)));
  const messages = chats.flatMap(spoken).length;
  return {
    conversations: chats.length,
    live: chats.length - ended.length,
    messages,
    averageMessages: chats.length === 0 ? null : messages / chats.length,
    averageSeconds:
      ended.length === 0 ? null : expect.closeTo(seconds.reduce((a, b) => a + b, 0) / ended.length, 6),
    questions: questions.length,
    notKnown: because("NOT_KNOWN"),
    errors: because("ERROR"),
    noAnswer: because("NO_ANSWER"),
    unanswered: because("NOT_KNOWN") + because("ERROR") + because("NO_ANSWER"),
    answerTimes: {
      count: times.length,
      averageMs:
        times.length === 0 ? null : expect.closeTo(times.reduce((a, b) => a + b, 0) / times.length, 6),
    },
    times,
    lengths: ended.map((chat) => spoken(chat).length),
    seconds,
    unansweredIds: questions.filter(({ reason }) => reason).map(({ messageId }) => messageId),
  };
}

/** Without pauses of more than 5 minutes and the time after the last message, except for calls. In seconds. */
function lengthOf({ channel, startedAt, endedAt }: PastChat, spoken: readonly PastMessage[]): number {
  if (channel === "VOICE") return Math.round((endedAt!.getTime() - startedAt.getTime()) / 1_000);
  const times = [startedAt, ...spoken.map(({ createdAt }) => createdAt)].map((at) => at.getTime());
  const gaps = times.slice(1).map((at, index) => at - times[index]!);
  return Math.round(gaps.filter((gap) => gap <= 300_000).reduce((sum, gap) => sum + gap, 0) / 1_000);
}

interface AnswerTimeSpread {
  readonly answerTimes: {
    readonly buckets: Bucket[];
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
  };
}

function expectCounts(counts: AnswerTimeSpread, chats: readonly PastChat[]) {
  const { times, lengths: _, seconds: __, unansweredIds: ___, answerTimes, ...sums } = expected(chats);
  expect(counts).toMatchObject({ ...sums, answerTimes });
  expectSpread(counts.answerTimes.buckets, times);
  for (const [name, share] of [
    ["p50Ms", 0.5],
    ["p95Ms", 0.95],
  ] as const) {
    const value = counts.answerTimes[name];
    const exact = times.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * times.length) - 1)];
    if (exact === undefined) expect(value).toBeNull();
    else {
      const { from, to } = bucketOf(counts.answerTimes.buckets, exact);
      expect(value).toBeGreaterThanOrEqual(from);
      expect(value).toBeLessThanOrEqual(to ?? Infinity);
    }
  }
}

type Bucket = { from: number; to: number | null; count: number };
const bucketOf = (buckets: Bucket[], value: number) =>
  buckets.find(({ from, to }) => value >= from && value < (to ?? Infinity))!;

function expectSpread(buckets: Bucket[], values: readonly number[]) {
  const counted = buckets.map(
    ({ from, to }) => values.filter((value) => value >= from && value < (to ?? Infinity)).length,
  );
  expect(buckets.map(({ count }) => count)).toEqual(counted);
}

function functionsOf(chats: readonly PastChat[]) {
  const uses = new Map<string, { name: string; calls: number; succeeded: number; failed: number }>();
  for (const { messages } of chats)
    for (const { toolCalls = [] } of messages)
      for (const { id, name } of toolCalls) {
        const answer = messages.find(({ toolCallId }) => toolCallId === id);
        if (!answer || answer.metadata.transition || answer.metadata.skipped) continue;
        const use = uses.get(name) ?? { name, calls: 0, succeeded: 0, failed: 0 };
        const failed = answer.metadata.failed ? 1 : 0;
        uses.set(name, {
          name,
          calls: use.calls + 1,
          succeeded: use.succeeded + 1 - failed,
          failed: use.failed + failed,
        });
      }
  return [...uses.values()];
}

const dayIn = (timeZone: string) => {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
  return ({ startedAt }: PastChat) => format.format(startedAt);
};

const byName = <T extends { name?: string; reason?: string }>(list: readonly T[]) =>
  list.toSorted((a, b) => (a.name ?? a.reason ?? "").localeCompare(b.name ?? b.reason ?? ""));

async function expectExact(input: Record<string, unknown>, wanted: (chat: PastChat) => boolean = () => true) {
  const { from = FROM, to = TO, timezone = "UTC" } = input as { from?: Date; to?: Date; timezone?: string };
  const chats = history.filter((chat) => wanted(chat) && chat.startedAt >= from && chat.startedAt < to);
  const found = await report(input);
  expectCounts(found.totals, chats);
  const dayOf = dayIn(timezone);
  for (const day of found.days) {
    const ofDay = chats.filter((chat) => dayOf(chat) === day.date);
    expectCounts(day, ofDay);
    for (const { channel, conversations } of day.channels)
      expect(conversations).toBe(ofDay.filter((chat) => chat.channel === channel).length);
  }
  const dates = found.days.map(({ date }: { date: string }) => date);
  expect(dates).toEqual([...new Set(dates)].sort());
  expect(dates).toEqual(expect.arrayContaining([...new Set(chats.map(dayOf))]));
  for (const { assistantId, conversations, messages, questions, unanswered } of found.assistants)
    expect({ conversations, messages, questions, unanswered }).toEqual(
      pickOf(expected(chats.filter((chat) => chat.assistantId === assistantId))),
    );
  const reasons = new Map<string, number>();
  for (const { endedAt, endedReason } of chats)
    if (endedAt) reasons.set(endedReason ?? "unknown", (reasons.get(endedReason ?? "unknown") ?? 0) + 1);
  expect(byName(found.endReasons)).toEqual(
    byName([...reasons].map(([reason, conversations]) => ({ reason, conversations }))),
  );
  expectSpread(found.lengths.messages, expected(chats).lengths);
  expectSpread(found.lengths.seconds, expected(chats).seconds);
  expect(byName(found.functions)).toEqual(byName(functionsOf(chats)));
  const listed = found.unansweredQuestions.map(({ messageId }: { messageId: string }) => messageId);
  const all = expected(chats).unansweredIds;
  expect(all).toEqual(expect.arrayContaining(listed));
  expect(listed).toHaveLength(Math.min(100, all.length));
}

const pickOf = ({ conversations, messages, questions, unanswered }: ReturnType<typeof expected>) => ({
  conversations,
  messages,
  questions,
  unanswered,
});

describe.each([
  ["as long as no facts are kept", () => Promise.resolve(0)],
  ["when facts of some chats are kept", () => running.app.database.keepFacts(100)],
  ["when all are", () => keepFacts(running.app.database)],
  [
    "when some are added up",
    () => addFacts(running.app.database.scope(ids.organizationId), { most: 7, batches: 10 }),
  ],
  ["when all are added up", () => sumFacts(running.app.database, undefined, 50)],
])("analytics match the stored messages %s", (_when, keep) => {
  beforeAll(async () => void (await keep()));

  test("of the whole organization", () => expectExact({}));
  test("of part of a day", () => expectExact({ to: new Date(FROM.getTime() + DAY / 3) }));
  test.each([
    ...["Asia/Kathmandu", "Asia/Kolkata", "America/New_York", "Europe/Zurich", "Pacific/Apia"],
    ...["CET", "IST"], // PostgreSQL takes these for fixed offsets
  ])("by days in %s", (timezone) => expectExact({ timezone }));
  test("of one assistant, including a deleted one", async () => {
    for (const assistantId of [ids.staff, ids.deleted])
      await expectExact({ assistantId }, (chat) => chat.assistantId === assistantId);
  });
  test("of one channel", () => expectExact({ channel: "SMS" }, ({ channel }) => channel === "SMS"));
  test("of one project", () =>
    expectExact({ projectId: ids.projectId }, ({ assistantId }) => assistantId === ids.project));
  test("with all filters combined", () =>
    expectExact(
      { projectId: ids.projectId, channel: "VOICE", assistantId: ids.project, timezone: "Europe/Zurich" },
      ({ assistantId, channel }) => assistantId === ids.project && channel === "VOICE",
    ));
});

test("assistants are listed by name and marked if deleted", async () => {
  const { assistants } = await report({});
  const names = assistants.map(({ name, deleted }: { name: string; deleted: boolean }) => [name, deleted]);
  expect(names).toEqual(
    expect.arrayContaining([
      ["Front desk", false],
      ["Gone", true],
    ]),
  );
});

test("an unanswered question is listed with its answer", async () => {
  const { unansweredQuestions } = await report({ assistantId: ids.staff });
  const said = new Map(history.flatMap(({ messages }) => messages).map((message) => [message.id, message]));
  for (const { messageId, question, answer, reason } of unansweredQuestions) {
    expect(question).toBe(said.get(messageId)!.content);
    expect(answer === null).toBe(reason === "NO_ANSWER");
  }
  const askedAt = unansweredQuestions.map((one: { askedAt: string }) => one.askedAt);
  expect(askedAt).toEqual(askedAt.toSorted().reverse());
});

describe("recent conversations are counted immediately", () => {
  const now = async (api: Api) => {
    const { analytics } = await api.gql(
      `{ analytics(input: {}) { totals { conversations live messages questions noAnswer answerTimes { count } }
         endReasons { reason conversations } } }`,
    );
    const { answerTimes, ...totals } = analytics.totals;
    return { ...totals, answers: answerTimes.count, ended: analytics.endReasons };
  };

  test("while a chat is live, when it ends, and when its facts are stored", async () => {
    const { api } = await running.otherOrganization();
    const none = { conversations: 0, live: 0, messages: 0, questions: 0, noAnswer: 0, answers: 0, ended: [] };
    expect(await now(api)).toEqual(none);
    const assistantId = await quietAssistant(api);
    const chat = await newChat(api, assistantId);
    await say(api, chat, "Are you open?", "USER");
    const asked = { ...none, conversations: 1, live: 1, messages: 1, questions: 1 };
    expect(await now(api)).toEqual(asked);
    await say(api, chat, "We are.");
    await say(api, chat, "And tomorrow?", "USER");
    expect(await now(api)).toEqual({ ...asked, messages: 3, questions: 2, answers: 1 });
    await endChat(api, chat, "said-goodbye");
    const over = { ...asked, live: 0, messages: 3, questions: 2, answers: 1, noAnswer: 1 };
    const ended = [{ reason: "said-goodbye", conversations: 1 }];
    expect(await now(api)).toEqual({ ...over, ended });
    await keepFacts(running.app.database);
    expect(await now(api)).toEqual({ ...over, ended });
  });

  test("chats that end while facts are being stored are counted once each", async () => {
    const { api } = await running.otherOrganization();
    const assistantId = await quietAssistant(api);
    const chats = await Promise.all(Array.from({ length: 20 }, () => newChat(api, assistantId)));
    const keeping = async () => {
      for (let round = 0; round < 10; round++) await running.app.database.keepFacts(3);
    };
    const counts: number[] = [];
    const counting = async () => {
      for (let round = 0; round < 10; round++) counts.push((await now(api)).conversations as number);
    };
    await Promise.all([...chats.map((id) => endChat(api, id)), keeping(), keeping(), counting()]);
    expect(counts).toEqual(counts.map(() => chats.length));
    await keepFacts(running.app.database);
    expect(await now(api)).toMatchObject({ conversations: 20, live: 0 });
  });

  test("facts contain no words of the conversation and are deleted with their chat", async () => {
    const { database } = running;
    const TABLES =
      "conversation_facts_kept conversation_facts_summed function_facts_kept function_facts_summed";
    const SUMS = "conversation_sums end_reason_sums function_sums";
    const textOf = async (tables: string) => {
      const texts = tables.split(" ").map((name) => `select string_agg(f::text, ' ') as text from ${name} f`);
      const rows = await database.query<{ text: string | null }>(texts.join(" union all "));
      return rows.map(({ text }) => text ?? "").join(" ");
    };
    expect(await textOf(TABLES)).toContain("0ff1ce-");
    expect(await textOf(TABLES)).not.toMatch(/Question|Caller/);
    expect(await textOf(SUMS)).toContain("idle-timeout");
    expect(await textOf(SUMS)).not.toMatch(/0ff1ce-|Question|Caller/);
    const [left] = await database.query<{ count: string }>(
      `select count(*) from conversation_facts f where f.ended_reason is not null and not exists (
         select 1 from chats c where c.organization_id = f.organization_id and c.id = f.chat_id and c.counted)`,
    );
    expect(left!.count).toBe("0");
  });
});

describe("webhook deliveries", () => {
  test("are counted by day, status and time for as long as they are stored", async () => {
    const { api, organizationId } = await running.otherOrganization();
    const { database } = running;
    const body = { url: "https://hooks.example.com/very/secret/path", secret: "shared", name: "CRM" };
    const { id } = await api.post("/rest/v1/settings", body, 201);
    const deliver = (status: string, attempt: number, ms: number | null, at: string) =>
      database.query(
        `with event as (insert into events (organization_id, id, name, type, assistant_id, body)
           values ($1, gen_random_uuid()::text, 'session-start', 'TEXT', 'a', '{}') returning id)
         insert into deliveries (organization_id, id, event_id, destination_id, status, attempt, duration_ms, created_at)
         select $1, gen_random_uuid()::text, event.id, $2, $3, $4, $5, $6 from event`,
        [organizationId, id, status, attempt, ms, at],
      );
    for (const ms of [60, 70, 450]) await deliver("DELIVERED", 1, ms, "2026-05-01T23:30:00Z");
    await deliver("DELIVERED", 3, 2_000, "2026-05-02T10:00:00Z");
    await deliver("FAILED", 8, null, "2026-05-02T11:00:00Z");
    await deliver("PENDING", 2, null, "2026-05-02T12:00:00Z");
    await database.query(
      "update webhook_destinations set failing_since = '2026-05-02T11:00:00Z', failures = 9 where id = $1",
      [id],
    );
    const READ = `query ($input: AnalyticsInput!) { analytics(input: $input) {
      webhooks { deliveries delivered failed pending retried medianMs
        days { date deliveries delivered failed pending retried medianMs } }
      failingDestinations { id name host enabled failingSince failures } } }`;
    const input = { from: "2026-05-01T00:00:00Z", to: "2026-05-03T00:00:00Z" };
    const { analytics } = await api.gql(READ, { input });
    expect(analytics.webhooks).toEqual({
      deliveries: 6,
      delivered: 4,
      failed: 1,
      pending: 1,
      retried: 3,
      medianMs: expect.any(Number),
      days: [
        expect.objectContaining({ date: "2026-05-01", deliveries: 3, delivered: 3, retried: 0 }),
        expect.objectContaining({ date: "2026-05-02", deliveries: 3, delivered: 1, failed: 1, pending: 1 }),
      ],
    });
    const [first, second] = analytics.webhooks.days;
    expect(first.medianMs).toBeGreaterThanOrEqual(50);
    expect(first.medianMs).toBeLessThanOrEqual(100);
    expect(second.medianMs).toBeGreaterThanOrEqual(1_500);
    expect(analytics.failingDestinations).toEqual([
      {
        id,
        name: "CRM",
        host: "hooks.example.com",
        enabled: true,
        failingSince: "2026-05-02T11:00:00.000Z",
        failures: 9,
      },
    ]);
    const elsewhere = await api.gql(READ, { input: { ...input, timezone: "Asia/Kathmandu" } });
    expect(
      elsewhere.analytics.webhooks.days.map(({ deliveries }: { deliveries: number }) => deliveries),
    ).toEqual([0, 6, 0]);
  });
});

test("the database knows every time zone that browsers offer", async () => {
  const zones = Intl.supportedValuesOf("timeZone");
  expect(zones.length).toBeGreaterThan(300);
  const known = await running.database.query(
    "select now() at time zone name from unnest($1::text[]) zones (name)",
    [zones],
  );
  expect(known).toHaveLength(zones.length);
  const input = { timezone: zones.find((name) => name.includes("Argentina/")) };
  expect((await report(input)).days.length).toBeGreaterThan(0);
});

test("a period before the year 1000 has its days", async () => {
  const { days } = await report({ from: "0044-03-14T12:00:00Z", to: "0044-03-16T00:00:00Z" });
  expect(days.map(({ date }: { date: string }) => date)).toEqual(["0044-03-14", "0044-03-15"]);
});

describe("invalid input is refused:", () => {
  const refused = (input: object) =>
    running.api.gqlError("query ($input: AnalyticsInput!) { analytics(input: $input) { from } }", { input });

  test.each([
    ["an unknown time zone", { timezone: "Mars/Olympus" }, "input.timezone"],
    ["a time zone that PostgreSQL does not know", { timezone: "SystemV/EST5" }, "input.timezone"],
    [
      "an offset, which PostgreSQL interprets with the opposite sign",
      { timezone: "+02:00" },
      "input.timezone",
    ],
    ["an end before the beginning", { from: TO, to: FROM }, "input.from"],
    ["more than 400 days", { from: "2024-01-01T00:00:00Z", to: TO }, "input.from"],
  ])("%s", async (_what, input, path) => {
    const { extensions } = await refused(input);
    expect(extensions.code).toBe("BAD_USER_INPUT");
    expect(extensions.details[0].path).toBe(path);
  });

  test("an unknown assistant or project", async () => {
    expect((await refused({ assistantId: UNKNOWN_ID })).extensions.code).toBe("ASSISTANT_NOT_FOUND");
    expect((await refused({ projectId: UNKNOWN_ID })).extensions.code).toBe("PROJECT_NOT_FOUND");
  });
});

describe("the list of all logs", () => {
  const LOGS = `query ($first: Int, $after: String, $filter: LogFilter) { logs(first: $first, after: $after, filter: $filter) {
    nodes { id type label createdAt assistantId assistantName status endedReason messageCount durationSeconds }
    pageInfo { hasNextPage endCursor } } }`;
  interface LogPage {
    nodes: { id: string }[];
    pageInfo: { hasNextPage: boolean; endCursor: string };
  }
  const list = async (variables: object) => (await running.api.gql(LOGS, { ...variables })).logs;
  const past = () =>
    history.toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime() || (a.id < b.id ? 1 : -1));

  test("returns all logs page by page, newest first", async () => {
    const found: string[] = [];
    let after: string | null = null;
    do {
      const { nodes, pageInfo } = (await list({ first: 77, after })) as LogPage;
      found.push(...nodes.map(({ id }) => id));
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after !== null);
    expect(found).toEqual(past().map(({ id }) => id));
  });

  test("includes the outcome of each conversation", async () => {
    const [{ id, messages, ...chat }] = past() as [PastChat];
    const { nodes } = await list({ first: 1 });
    expect(nodes).toEqual([
      {
        id,
        type: chat.channel,
        label: `Caller ${id}`,
        createdAt: chat.startedAt.toISOString(),
        assistantId: chat.assistantId,
        assistantName: expect.any(String),
        status: chat.endedAt ? "ended" : "in-progress",
        endedReason: chat.endedReason,
        messageCount: messages.length,
        durationSeconds: expect.any(Number),
      },
    ]);
  });

  test("can be filtered by assistant, channel and time", async () => {
    const filter = { assistantId: ids.deleted, type: "VOICE", startedAfter: FROM, startedBefore: TO };
    const { nodes } = await list({ first: 100, filter });
    const wanted = past().filter(
      ({ assistantId, channel, startedAt }) =>
        assistantId === ids.deleted && channel === "VOICE" && startedAt >= FROM && startedAt < TO,
    );
    expect(nodes.map(({ id }: { id: string }) => id)).toEqual(wanted.map(({ id }) => id));
    expect(wanted.length).toBeGreaterThan(0);
  });

  test.each([
    ["a label", "caller PAST-00042"],
    ["words of a message", "leider nicht"],
    ["markup as text", "<img src=x"],
    ["a wildcard of SQL as text", "%"],
  ])("finds %s", async (_what, search) => {
    const { nodes, pageInfo } = await list({ first: 100, filter: { search } });
    const text = search.toLowerCase();
    const wanted = past().filter(({ id, messages }) =>
      [`Caller ${id}`, ...messages.map(({ content }) => content ?? "")].some((one) =>
        one.toLowerCase().includes(text),
      ),
    );
    expect(nodes.map(({ id }: { id: string }) => id)).toEqual(wanted.slice(0, 100).map(({ id }) => id));
    expect(pageInfo.hasNextPage).toBe(wanted.length > 100);
  });
});

describe("the link to the analytics page", () => {
  const linkOf = async (api: Api) =>
    (await api.gql("{ organization { analyticUrl } }")).organization.analyticUrl;
  const bearer = (token: string) => running.api.as({ Authorization: `Bearer ${token}` });
  const tokenIn = (link: string) => new URL(link).hash.replace("#token=", "");
  const issue = (body: object) => running.api.post("/rest/v1/organization/token", body, 200);

  test("is returned to a SECRET key and to a token without userId only, on both interfaces", async () => {
    const pattern = new RegExp(`^${running.url}/analytics#token=[\\w-]+\\.[\\w-]+\\.[\\w-]+$`);
    expect(await linkOf(running.api)).toMatch(pattern);
    const { token } = await issue({});
    expect((await bearer(token).get("/rest/v1/organization", 200)).analyticUrl).toMatch(pattern);
    const { token: ofUser } = await issue({ userId: "ada" });
    expect(await linkOf(bearer(ofUser))).toBeNull();
    expect(await bearer(ofUser).get("/rest/v1/organization", 200)).not.toHaveProperty("analyticUrl");
  });

  test("gives access to analytics, logs and transcripts of one organization for 15 minutes", async () => {
    const token = tokenIn(await linkOf(running.api));
    const reader = bearer(token);
    expect((await report({}, reader)).totals.conversations).toBeGreaterThan(0);
    const [{ id, assistantId }] = (await reader.gql("{ logs(first: 1) { nodes { id assistantId } } }")).logs
      .nodes;
    const READ =
      "query ($assistantId: ID!, $id: ID!) { log(assistantId: $assistantId, id: $id) { messages } }";
    expect((await reader.gql(READ, { assistantId, id })).log.messages.items).toBeDefined();
    const { exp, iat } = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
    expect(exp - iat).toBeGreaterThan(14 * 60);
    expect(exp - iat).toBeLessThanOrEqual(15 * 60);
    const other = await running.otherOrganization();
    expect((await report({}, bearer(tokenIn(await linkOf(other.api))))).totals.conversations).toBe(0);
  });

  test("expires no later than the token that requested it", async () => {
    const { token, expiresAt } = await issue({ expiresIn: "60s" });
    const [, payload] = tokenIn(await linkOf(bearer(token))).split(".");
    const { exp } = JSON.parse(Buffer.from(payload!, "base64url").toString());
    expect(exp * 1000).toBeLessThanOrEqual(Date.parse(expiresAt));
  });

  test("is revoked with its key", async () => {
    const { id, value } = await running.api.post("/rest/v1/organization/keys", {}, 200);
    const reader = bearer(tokenIn(await linkOf(running.api.as({ "X-API-Key": value }))));
    await report({}, reader);
    await running.api.delete(`/rest/v1/organization/keys/${id}`, 200);
    const { status } = await reader.graphql("{ logs(first: 1) { nodes { id } } }");
    expect(status).toBe(401);
  });
});
