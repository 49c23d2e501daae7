import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { expectBoundedReads, unchecked } from "../support/plans";
import { until } from "../support/until";

const running = useApp();

/** Text chats of one assistant, calls of another, and text chats beside a few calls of a third; one a minute each. */
const LARGE = 60_000;
const FEW = 30;
/** Text chats with the same person, number, workflow and deployment. */
const GUEST = 20_000;
/** Pages of 8 kB that a statement may read: a full read of the calls takes 240,000 with their chats, 900 without. */
const MOST_BUFFERS = 400;
/** For text chats of one person: each of them once. Reading a call for each as well takes 60,000. */
const MOST_OF_GUEST = 4_000;

let [texts, callers, few, without] = ["", "", "", ""];
let limited: Api;
let limitedToFew: Api;

beforeAll(async () => {
  const { api, database } = running;
  [texts, callers, few] = [await newAssistant(api), await newAssistant(api), await newAssistant(api)];
  without = await newAssistant(api);
  const limitedTo = async (assistantIds: readonly string[]) => {
    const { value } = await api.post("/rest/v1/organization/keys", { assistantIds }, 200);
    return api.as({ "X-API-Key": value });
  };
  limited = await limitedTo([texts, without]);
  limitedToFew = await limitedTo([texts, few]);
  const { id } = await api.get("/rest/v1/organization", 200);
  await database.query(
    unchecked(`insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, started_at, ended_at, ended_reason,
       user_id, external_id, phone_number, workflow_id, deployment_id)
     select '${id}', kind || '-' || lpad(n::text, 5, '0'), owner, channel, 'ended', 'none', at, at, 'ended-by-api', person, person, person,
       person, person
     from (values ('text', 'TEXT', '${texts}', ${LARGE}), ('call', 'VOICE', '${callers}', ${LARGE}), ('few', 'VOICE', '${few}', ${FEW}),
       ('beside', 'TEXT', '${few}', ${LARGE})) kinds (kind, channel, owner, number), generate_series(1, number) n,
       lateral (select now() - n * interval '1 minute' as at, case when kind = 'text' and n <= ${GUEST} then 'guest'
         when kind = 'few' then 'ada' end as person) more`),
  );
  // As for imported calls, the order of some differs from that of their chats.
  await database.query(
    unchecked(`insert into calls (organization_id, chat_id, kind, engine, sealed_secret, created_at)
     select organization_id, id, 'WEB', 'page', 'none', started_at - case when right(id, 1) = '7' then interval '5 minutes' else '0' end
     from chats where channel = 'VOICE' and organization_id = '${id}'`),
  );
  for (const table of ["chats", "calls"])
    // A job may have a snapshot in which rows are not visible yet.
    await until(async () => {
      await database.query(`vacuum analyze ${table}`);
      const visible = `select from pg_class where relname = '${table}' and relallvisible > relpages / 2`;
      return (await database.query(visible)).length > 0;
    });
}, 300_000);

const LIST = `query ($filter: CallFilter, $first: Int, $last: Int, $orderBy: ListOrder, $after: String) {
  calls(filter: $filter, first: $first, last: $last, orderBy: $orderBy, after: $after) { nodes { id } pageInfo { endCursor } }
}`;
const COUNT = "query ($filter: CallFilter) { calls(filter: $filter, first: 1) { totalCount } }";

/** The ids of calls, oldest first, by a condition on the table. */
async function expected(condition: string): Promise<string[]> {
  const rows = await running.database.query<{ id: string }>(
    `select chat_id as id from calls join chats on chats.id = chat_id where ${condition} order by calls.created_at, chat_id`,
  );
  return rows.map(({ id }) => id);
}

async function expectCalls(api: Api, filter: object, condition: string, most = MOST_BUFFERS): Promise<void> {
  const bounded = (request: () => Promise<unknown>) =>
    expectBoundedReads(running, /\b(calls|chats)\b/, request, most);
  const page = async (query: object) => (await api.gql(LIST, { filter, ...query })).calls;
  const idsOf = ({ nodes }: { nodes: { id: string }[] }) => nodes.map(({ id }) => id);
  await bounded(() => page({}));
  await bounded(() => page({ last: 20 }));
  const oldestFirst = await expected(condition);
  const newestFirst = oldestFirst.toReversed();
  const newest = await page({});
  expect(idsOf(newest)).toEqual(newestFirst.slice(0, 20));
  expect(idsOf(await page({ orderBy: "OLDEST_FIRST" }))).toEqual(oldestFirst.slice(0, 20));
  expect(idsOf(await page({ last: 20 }))).toEqual(newestFirst.slice(-20));
  const { endCursor } = newest.pageInfo;
  if (endCursor !== null) {
    await bounded(() => page({ after: endCursor }));
    expect(idsOf(await page({ after: endCursor }))).toEqual(newestFirst.slice(20, 40));
  }
  const count = async () => (await api.gql(COUNT, { filter })).calls.totalCount as number;
  // To count many calls, PostgreSQL reads them.
  if (oldestFirst.length < 1_000) await bounded(count);
  expect(await count()).toBe(oldestFirst.length);
}

const of = (id: string) => `assistant_id = '${id}'`;

describe("beside 60,000 calls and 120,000 text chats, a bounded part of them is read, and the right calls are found, of", () => {
  test("an assistant with text chats only", () => expectCalls(running.api, { assistantId: texts }, "false"));

  test("an assistant with few calls beside its text chats", () =>
    expectCalls(running.api, { assistantId: few }, of(few)));

  test("an assistant with many calls", () => expectCalls(running.api, { assistantId: callers }, of(callers)));

  test("an assistant without chats", () => expectCalls(running.api, { assistantId: without }, "false"));

  test.each([
    ["ended", "true"],
    ["ringing", "false"],
  ])("assistants, that are %s", async (status, condition) => {
    await expectCalls(running.api, { assistantId: few, status }, `${of(few)} and ${condition}`);
    await expectCalls(running.api, { assistantId: callers, status }, `${of(callers)} and ${condition}`);
  });

  test("an assistant, of a time", async () => {
    const [{ at }] = (await running.database.query(
      "select created_at as at from calls where chat_id = 'few-00015'",
    )) as [{ at: Date }];
    await expectCalls(
      running.api,
      { assistantId: few, from: at.toISOString() },
      `${of(few)} and calls.created_at >= '${at.toISOString()}'`,
    );
  });

  test.each(["userId", "externalId", "phoneNumber", "workflowId", "deploymentId"])("a %s", async (name) => {
    await expectCalls(running.api, { [name]: "ada" }, "user_id = 'ada'");
    await expectCalls(running.api, { [name]: "nobody" }, "false");
    await expectCalls(running.api, { [name]: "guest" }, "false", MOST_OF_GUEST);
  });

  test("the assistants of a key", async () => {
    await expectCalls(limited, {}, "false");
    await expectCalls(limited, { assistantId: texts }, "false");
    await expectCalls(limited, { userId: "ada" }, "false");
    await expectCalls(limitedToFew, {}, of(few));
    await expectCalls(limitedToFew, { userId: "ada" }, of(few));
  });
});
