import { describe, expect, test } from "@jest/globals";
import { keepFacts } from "../../src/chats/analytics/keep-facts";
import { LANGUAGES } from "../../src/platform/language/detect-language";
import { PHRASES, type Phrases } from "../../src/platform/language/local-phrases";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { store, type PastChat, type PastMessage } from "../support/history";

const running = useApp();
const START = new Date("2026-03-10T12:00:00Z");
const MINUTE = 60;

interface Said {
  /** Seconds after the start. */
  readonly at: number;
  readonly role?: PastMessage["role"];
  readonly content?: string;
}
interface Course extends Partial<Pick<PastChat, "channel">> {
  readonly said: readonly Said[];
  /** Seconds after the start; null for a live conversation. */
  readonly end: number | null;
}

const after = (seconds: number) => new Date(START.getTime() + seconds * 1_000);
let stored = 0;

async function storePast(api: Api, organizationId: string, { said, end, channel = "TEXT" }: Course) {
  const assistantId = await newAssistant(api);
  const id = `1e9-${++stored}`;
  const messages = said.map(({ at, role = "USER", content = "Hi." }, index) => ({
    id: `${id}-${index}`,
    role,
    content,
    metadata: {},
    createdAt: after(at),
  }));
  const ended = end === null ? null : after(end);
  const chat = { id, assistantId, channel, startedAt: START, endedAt: ended, endedReason: null, messages };
  await store(running.database, organizationId, [chat]);
  return { assistantId, id };
}

const READ = `query ($input: AnalyticsInput!, $assistantId: ID!, $id: ID!) {
  analytics(input: $input) { totals { averageSeconds notKnown questions } lengths { seconds { from count } } days { averageSeconds } }
  logs { nodes { lengthSeconds durationSeconds } }
  log(assistantId: $assistantId, id: $id) { lengthSeconds metadata } }`;
const INPUT = { from: "2026-03-10T00:00:00Z", to: "2026-03-11T00:00:00Z" };

/** The length of an organization's only conversation, in every place that reports it. */
async function lengths(api: Api, chat: { assistantId: string; id: string }) {
  const { analytics, logs, log } = await api.gql(READ, { input: INPUT, ...chat });
  return {
    average: analytics.totals.averageSeconds,
    day: analytics.days[0].averageSeconds,
    entry: logs.nodes[0].lengthSeconds,
    log: log.lengthSeconds,
    longest: analytics.lengths.seconds.findLast(({ count }: { count: number }) => count > 0)?.from ?? null,
    whole: logs.nodes[0].durationSeconds,
  };
}

const chat: readonly Said[] = [
  { at: 10 },
  { at: 15, role: "ASSISTANT" },
  { at: 75 },
  { at: 80, role: "ASSISTANT" },
];

describe.each<[string, Course, number | null, number | null]>([
  ["ends with its last message", { said: chat, end: 30 * MINUTE }, 80, 60],
  ["has no messages", { said: [], end: 30 * MINUTE }, 0, 0],
  [
    "has a pause of 5 minutes, which counts",
    { said: [{ at: 0 }, { at: 5 * MINUTE }], end: 40 * MINUTE },
    300,
    300,
  ],
  ["has a longer pause, which does not", { said: [{ at: 0 }, { at: 301 }, { at: 331 }], end: 360 }, 30, 30],
  ["begins long before its first message", { said: [{ at: 3_600 }, { at: 3_610 }], end: 3_700 }, 10, 0],
  [
    "is by SMS, over days",
    { said: [{ at: 0 }, { at: 40 }, { at: 86_400 }, { at: 86_420 }], end: 90_000, channel: "SMS" },
    60,
    60,
  ],
  [
    "has notes, calls of functions and messages without text, which do not count",
    {
      said: [...chat, { at: 100, role: "SYSTEM" }, { at: 110, role: "TOOL" }, { at: 120, content: "" }],
      end: 200,
    },
    80,
    60,
  ],
  ["is a call, which has no pauses", { said: chat, end: 30 * MINUTE, channel: "VOICE" }, 1_800, 1_800],
  ["is live", { said: chat, end: null }, null, null],
])("the length of a conversation that %s", (_name, course, seconds, longest) => {
  test("is the same in all figures, before and after its facts are stored", async () => {
    const { api, organizationId } = await running.otherOrganization();
    const conversation = await storePast(api, organizationId, course);
    const expected = { average: seconds, day: seconds, entry: seconds, log: seconds, longest };
    expect(await lengths(api, conversation)).toMatchObject(expected);
    await keepFacts(running.app.database);
    const found = await lengths(api, conversation);
    expect(found).toMatchObject(expected);
    if (course.end !== null) expect(found.whole).toBe(course.end);
  });
});

test("a call lasts from its answer, without the time in the queue", async () => {
  const { api, organizationId } = await running.otherOrganization();
  const call = await storePast(api, organizationId, { said: chat, end: 20 * MINUTE, channel: "VOICE" });
  await running.database.query(
    `insert into calls (organization_id, chat_id, kind, engine, sealed_secret, answered_at)
     values ($1, $2, 'PHONE', 'vapi', '', $3)`,
    [organizationId, call.id, after(18 * MINUTE)],
  );
  expect(await lengths(api, call)).toMatchObject({ average: 120, entry: 120, log: 120 });
});

test("conversations stored by earlier rules are measured again, except those that have lost messages", async () => {
  const { database, app } = running;
  const { api, organizationId } = await running.otherOrganization();
  const whole = await storePast(api, organizationId, { said: chat, end: 1_800 });
  const gone = await storePast(api, organizationId, { said: chat, end: 1_800 });
  await keepFacts(app.database);
  const old = "update conversation_facts_kept set seconds = 1800 where organization_id = $1";
  await database.query(old, [organizationId]);
  await database.query("delete from messages where organization_id = $1 and chat_id = $2", [
    organizationId,
    gone.id,
  ]);
  await database.query("update organizations set recount_facts_after = ''");
  await keepFacts(app.database);
  const rows = await database.query<{ chat_id: string; seconds: number }>(
    "select chat_id, seconds from conversation_facts_kept where organization_id = $1 order by chat_id",
    [organizationId],
  );
  expect(new Map(rows.map(({ chat_id, seconds }) => [chat_id, seconds]))).toEqual(
    new Map([
      [whole.id, 80],
      [gone.id, 1_800],
    ]),
  );
  const left = await database.query("select from organizations where recount_facts_after is not null");
  expect(left).toEqual([]);
});

describe.each(LANGUAGES)("in the language %s", (language) => {
  const { unknown, heard: _, ...others }: Phrases = PHRASES[language];

  test("a local answer that says it does not know counts as not known, and no other local answer does", async () => {
    const { api, organizationId } = await running.otherOrganization();
    const answered = Object.values(others).filter((text): text is string => typeof text === "string");
    const said = [unknown, ...answered].flatMap((content, index): Said[] => [
      { at: 2 * index },
      { at: 2 * index + 1, role: "ASSISTANT", content },
    ]);
    const conversation = await storePast(api, organizationId, { said, end: 100 });
    const { analytics } = await api.gql(READ, { input: INPUT, ...conversation });
    expect(analytics.totals).toMatchObject({ notKnown: 1, questions: answered.length + 1 });
  });
});
