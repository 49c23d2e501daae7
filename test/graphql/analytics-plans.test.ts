import { beforeAll, describe, expect, test } from "@jest/globals";
import { keepFacts } from "../../src/chats/analytics/keep-facts";
import { CONVERSATION_FACTS, CONVERSATIONS, FUNCTION_FACTS } from "../../src/chats/analytics/measures";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { nodesOf, pagesOf, planOf, statementsOf, unchecked, type PlanNode } from "../support/plans";

const running = useApp({ WORKER: "off" });
/** Conversations of one large assistant, and of small ones beside it, one every two minutes for nine months. */
const STORED = 200_000;
const SMALL_SHARE = 10;
const SMALL_ASSISTANTS = 200;
/** The newest ones: live, ended but not counted yet, and counted but in no sum yet. */
const LIVE = 100;
const UNCOUNTED = 200;
const UNSUMMED = 700;
/** Pages of 8 kB that a statement may read: 15 for each uncounted conversation, and the sums of 90 days. */
const MOST_BUFFERS = 10_000;
/** Rows of conversations that a statement may read; 90 days have 65,000 of them. */
const MOST_ROWS = 3_000;
/** Tables that grow with the number of conversations; those with facts to add up are emptied by a job. */
const LARGE = /^(chats|messages|\w+_(facts_summed|sums))$/;
/** Of these, those with a row for each conversation. */
const EACH = /^(chats|messages|\w+_facts_summed)$/;

const FACTS = ["kept", "summed"].flatMap((state) => [
  `conversation_facts_${state}`,
  `function_facts_${state}`,
]);
const FILLED = ["chats", "messages", "conversation_sums", "end_reason_sums", "function_sums", ...FACTS];

const HOUR = "date_trunc('hour', started_at, 'UTC')";
let assistantId: string;
let organizationId: string;

beforeAll(async () => {
  assistantId = await newAssistant(running.api);
  const { query } = running.database;
  const run = (text: string) => query(unchecked(text));
  const [row] = await query<{ id: string }>("select organization_id as id from assistants where id = $1", [
    assistantId,
  ]);
  organizationId = row!.id;
  await run(`insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, started_at, ended_at, counted)
    select '${organizationId}', 'log-' || n, case when n % ${SMALL_SHARE} > 0 then '${assistantId}' else 'small-' || n % ${SMALL_ASSISTANTS} end,
      (array['TEXT', 'VOICE', 'SMS'])[1 + n % 3], case when n <= ${LIVE} then 'in-progress' else 'ended' end, 'none', 'Caller',
      now() - n * interval '2 minutes', case when n > ${LIVE} then now() end, n > ${UNCOUNTED}
    from generate_series(1, ${STORED}) n`);
  await run(`insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
    select organization_id, id, id, assistant_id, 1, 'USER', 'TEXT', 'where is the parcel' from chats where id like 'log-%'`);
  const number = "substr(chat_id, 5)::integer";
  const counted = `(select id as chat_id, assistant_id, channel, started_at from chats where id like 'log-%' and counted) c`;
  for (const [table, condition] of [
    ["kept", `<= ${UNSUMMED}`],
    ["summed", `> ${UNSUMMED}`],
  ] as const) {
    await run(`insert into conversation_facts_${table} (organization_id, ${CONVERSATION_FACTS})
      select '${organizationId}', chat_id, assistant_id, channel, started_at, 'ended-by-api', 60, 4, 2, 2, 2000,
        array[0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], (${number} % 50 = 0)::integer, 0, 0
      from ${counted} where ${number} ${condition}`);
    await run(`insert into function_facts_${table} (organization_id, ${FUNCTION_FACTS})
      select '${organizationId}', chat_id, 'book', assistant_id, channel, started_at, 1, 0 from ${counted} where ${number} ${condition}`);
  }
  const sums = (facts: string, table: string, columns: string, values: string) =>
    run(`insert into ${table} (organization_id, assistant_id, channel, ${columns})
      select '${organizationId}', counted.assistant_id, channel, ${values}
      from ${facts}_facts_summed s cross join lateral (values (''), (s.assistant_id)) counted (assistant_id)
      group by 1, 2, 3, 4, 5 order by max(s.started_at)`);
  for (const [unit, starts] of [
    ["quarter", "date_bin('15 minutes', started_at, timestamptz '0001-01-01Z')"],
    ["day", "date_trunc('day', started_at, 'UTC')"],
  ])
    await sums(
      "conversation",
      "conversation_sums",
      `unit, starts_at, ${Object.keys(CONVERSATIONS).join(", ")}`,
      `'${unit}', ${starts} as starts_at, ${Object.values(CONVERSATIONS)
        .map((value) => `nullif(sum(${value}), 0)`)
        .join(", ")}`,
    );
  await sums(
    "conversation",
    "end_reason_sums",
    "starts_at, reason, conversations",
    `${HOUR} as starts_at, ended_reason, count(*)`,
  );
  await sums(
    "function",
    "function_sums",
    "starts_at, name, calls, failed",
    `${HOUR} as starts_at, name, sum(calls), sum(failed)`,
  );
  // One by one: behind a pooler, the role has a time limit for each statement.
  for (const table of FILLED) await query(`vacuum analyze ${table}`);
}, 300_000);

const TOTALS = "totals { conversations messages live answerTimes { p95Ms } }";
const PARTS = {
  totals: TOTALS,
  days: "days { date conversations }",
  assistants: "assistants { assistantId conversations }",
  endReasons: "endReasons { reason conversations }",
  lengths: "lengths { messages { count } seconds { count } }",
  functions: "functions { name calls }",
  unansweredQuestions: "unansweredQuestions(first: 10) { question }",
};
const FILTERS: Readonly<Record<string, () => object>> = {
  "an organization": () => ({}),
  "its large assistant": () => ({ assistantId }),
  "a channel of it": () => ({ channel: "SMS" }),
};

/** The rows that a node has read. */
const readBy = (node: PlanNode): number =>
  (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];

const planFor = async (part: string, days: number, filter: object): Promise<PlanNode> => {
  const to = new Date(Date.now() + 60_000);
  const from = new Date(to.getTime() - days * 86_400_000);
  const input = { from, to, timezone: "Europe/Zurich", ...filter };
  const query = `query ($input: AnalyticsInput!) { analytics(input: $input) { ${PARTS[part as keyof typeof PARTS]} } }`;
  const statements = await statementsOf(running.app.database, /_facts_|_sums/, () =>
    running.api.gql(query, { input }),
  );
  expect(statements).toHaveLength(1);
  return planOf(running.database, statements[0]!);
};

describe.each(Object.keys(FILTERS))(
  "the statistics of %s read a bounded part of 200,000 conversations",
  (whose) => {
    test.each([1, 30, 90].flatMap((days) => Object.keys(PARTS).map((part) => [part, days] as const)))(
      "%s of %d days",
      async (part, days) => {
        const plan = await planFor(part, days, FILTERS[whose]!());
        const large = nodesOf(plan).filter((node) => LARGE.test(node["Relation Name"] ?? ""));
        expect(large.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
        const rows = large.filter((node) => EACH.test(node["Relation Name"]!)).map(readBy);
        expect(rows.reduce((sum, some) => sum + some, 0)).toBeLessThan(MOST_ROWS);
        expect(pagesOf(plan)).toBeLessThan(MOST_BUFFERS);
      },
    );
  },
);

test.each(Object.keys(PARTS).filter((part) => part !== "unansweredQuestions"))(
  "%s read no messages of conversations that have not changed since a job measured them",
  async (part) => {
    await keepFacts(running.app.database);
    const plan = await planFor(part, 90, {});
    const messages = nodesOf(plan).filter((node) => node["Relation Name"] === "messages");
    expect(messages.map(readBy).filter((rows) => rows > 0)).toEqual([]);
  },
);
