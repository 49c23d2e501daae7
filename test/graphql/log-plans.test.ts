import { beforeAll, describe, expect, test } from "@jest/globals";
import { countLogs } from "../../src/chats/logs/count-logs";
import { connect } from "../../src/platform/database/connections/connect";
import { onlineSteps } from "../../src/platform/database/migrations";
import { runBatch, type OnlineStep } from "../../src/platform/database/migrations/online-step";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { expectBoundedReads, unchecked, withoutIndexes } from "../support/plans";

const running = useApp();
const blocks = onlineSteps.find(({ name }) => name === "log_blocks") as OnlineStep & { kind: "backfill" };
/** Logs of one large assistant, and of each of the small ones beside it. */
const LARGE = 180_000;
const SMALL = 100;
const SMALL_ASSISTANTS = 200;
/** Pages of 8 kB that a statement may read: a scan of 500 chats takes 9 each, a full read of the logs 20,000 and more. */
const MOST_BUFFERS = 6_000;
/** For a page, also of matches of a common word: blocks, at most twice the logs of one of them in an index, and the logs of the page. */
const MOST_OF_PAGE = 300;

let assistantId: string;

beforeAll(async () => {
  assistantId = await newAssistant(running.api);
  const { query } = running.database;
  const [{ organization_id: organization }] = (await query(
    `select organization_id from assistants where id = '${assistantId}'`,
  )) as [{ organization_id: string }];
  await withoutIndexes(running.database, ["chats", "messages"], async () => {
    await query(
      unchecked(`insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, started_at, assistant_version)
       select '${organization}', 'log-' || n, case when n <= ${LARGE} then '${assistantId}' else 'small-' || n % ${SMALL_ASSISTANTS} end,
         'TEXT', 'ended', 'none', 'Caller', now() - n * interval '1 minute', 1 + (${LARGE} - n) * 3 / ${LARGE} from generate_series(1, ${LARGE + SMALL * SMALL_ASSISTANTS}) n`),
    );
    await query(
      unchecked(`insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
       select organization_id, id, id, assistant_id, 1, 'USER', 'TEXT',
         case when id like '%7777' then 'zugzwang' else 'where is the parcel' end
       from chats where id like 'log-%'`),
    );
  });
  for (const table of ["chats", "messages"]) await query(`vacuum analyze ${table}`);
  // As for logs from before there were blocks.
  const knex = connect(running.database.ownerUrl, { pool: 1 });
  await knex("online_steps").where({ name: blocks.name }).delete();
  while (await knex.transaction((trx) => runBatch(trx, blocks)));
  await knex.destroy();
  const { database } = running.app;
  // A run ends after a time that a busy machine may exceed.
  while ((await database.uncountedOrganizations()).length > 0) await countLogs(database);
  await query("vacuum analyze log_blocks, log_changes");
}, 300_000);

const DAY = `startedAfter: "${new Date(Date.now() - 100 * 86_400_000).toISOString()}", startedBefore: "${new Date(Date.now() - 99 * 86_400_000).toISOString()}"`;
const SEARCHES = {
  "a common word": "parcel",
  "a rare word": "zugzwang",
  "an absent word": "xylograph",
  "an absent phrase of common words": "parcel where",
  "two letters": "zz",
};
const all = (filter: string) => () => running.api.gql(`{ logs(filter: { ${filter} }) { nodes { id } } }`);
const ofOne = (query: string) => () =>
  running.api.get(`/rest/v1/assistants/${assistantId}/logs?${query}`, 200);

const REQUESTS: Readonly<Record<string, () => Promise<unknown>>> = {
  "the first page of an assistant": ofOne(""),
  "the first page, oldest first": ofOne("order=asc"),
  "a middle page": ofOne(`page=${LARGE / 40}`),
  "the last page": ofOne(`page=${LARGE / 20}`),
  "a middle page, oldest first": ofOne(`page=${LARGE / 50}&order=asc`),
  "a middle page of a channel": ofOne(`page=${LARGE / 60}&type=TEXT`),
  "the last page of a channel": ofOne(`page=${LARGE / 20}&type=TEXT`),
  "a page behind the last one": ofOne(`page=${LARGE}`),
  "a channel that no log has": ofOne("type=SMS"),
  "the first page of the oldest version": ofOne("assistantVersion=1"),
  "the first page of the newest version, oldest first": ofOne("assistantVersion=3&order=asc"),
  "a version that no log has": ofOne("assistantVersion=99"),
  "a channel that no log of a version has": ofOne("assistantVersion=1&type=SMS"),
  "a version that no log of an organization has": () =>
    all(`assistantId: "${assistantId}", assistantVersion: 99`)(),
  "the first page of an organization": all(""),
  "a page of an organization with the number of its logs": () =>
    running.api.gql(
      `{ logs { totalCount } texts: logs(filter: { type: TEXT }) { totalCount } chats { totalCount } }`,
    ),
  "a channel that no log of the organization has": all("type: SMS"),
  "an old day of an organization": all(DAY),
  "an old day of an assistant": () => all(`assistantId: "${assistantId}", ${DAY}`)(),
  ...Object.fromEntries(
    Object.entries(SEARCHES).flatMap(([name, text]) => [
      [`a search for ${name} in an assistant`, ofOne(`search=${text}`)],
      [`a search for ${name} in an organization`, all(`search: "${text}"`)],
      [`a search for ${name} in the oldest version`, ofOne(`search=${text}&assistantVersion=1`)],
      [`a search for ${name} on an old day`, all(`search: "${text}", ${DAY}`)],
    ]),
  ),
};

describe("with 200,000 logs, a bounded part of them is read for", () => {
  test.each(Object.entries(REQUESTS))("%s", async (name, request) => {
    const most = /page|a common word/.test(name) ? MOST_OF_PAGE : MOST_BUFFERS;
    await expectBoundedReads(running, /\b(chats|messages)\b/, request, most);
  });
});

describe("a page far into a period reads a bounded part", () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  /** Logs of the same assistant, each a minute older than the one before; the period has 120 days. */
  const [early, late] = ["log-170000", "log-10000"];
  const PERIOD = `startedAfter: "${ago(121)}", startedBefore: "${ago(1)}"`;
  const PARTS = {
    "newest first": `first: 20, after: "${early}"`,
    "oldest first": `first: 20, after: "${late}", orderBy: OLDEST_FIRST`,
    "from its end": `last: 20, before: "${late}"`,
  };
  const LISTS: Readonly<Record<string, (part: string) => string>> = {
    "of all logs": (part) => `logs(${part}, filter: { ${PERIOD} }) { nodes { id } }`,
    "of the logs of an assistant": (part) =>
      `logs(${part}, filter: { assistantId: "${assistantId}", ${PERIOD} }) { nodes { id } }`,
    "of the logs of a channel": (part) => `logs(${part}, filter: { type: TEXT, ${PERIOD} }) { nodes { id } }`,
    "of all chats": (part) => `chats(${part}, filter: { ${PERIOD} }) { nodes { id } }`,
    "of the chats of an assistant": (part) =>
      `assistant(id: "${assistantId}") { chats(${part}, filter: { ${PERIOD} }) { nodes { id } } }`,
  };
  const CASES = Object.keys(LISTS).flatMap((list) => Object.keys(PARTS).map((part) => [list, part] as const));

  test.each(CASES)("%s, %s", async (list, part) => {
    const document = `{ ${LISTS[list]!(PARTS[part as keyof typeof PARTS])} }`;
    await expectBoundedReads(running, /\bchats\b/, () => running.api.gql(document), MOST_OF_PAGE);
  });
});

describe("a search for a rare word finds all logs that have it, the newest of which are old,", () => {
  // Of every 10,000 logs, one has the word.
  test.each([
    ["in an assistant", () => `assistantId: "${assistantId}"`, LARGE / 10_000],
    ["in an organization", () => "", (LARGE + SMALL * SMALL_ASSISTANTS) / 10_000],
  ])("%s", async (_, place, count) => {
    const { body } = await running.api.graphql(
      `{ logs(first: 100, filter: { search: "zugzwang", ${place()} }) { nodes { id } } }`,
    );
    expect([body.errors, body.extensions?.warnings]).toEqual([undefined, undefined]);
    expect(body.data.logs.nodes).toHaveLength(count);
  });
});

describe("the number of logs that a rare word finds is exact, and read by the index,", () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  /** One of 10,000 logs has the word, each a minute older than the one before: those that end with 7777. */
  test.each([
    ["in an organization", () => "", (LARGE + SMALL * SMALL_ASSISTANTS) / 10_000],
    ["in an assistant", () => `assistantId: "${assistantId}"`, LARGE / 10_000],
    ["of a channel", () => "type: TEXT", (LARGE + SMALL * SMALL_ASSISTANTS) / 10_000],
    ["of a channel without logs", () => "type: SMS", 0],
    ["in the newest version", () => `assistantId: "${assistantId}", assistantVersion: 3`, LARGE / 30_000],
    ["after a time", () => `startedAfter: "${ago(30)}"`, 4],
    [
      "between two times in an assistant",
      () => `assistantId: "${assistantId}", startedAfter: "${ago(60)}", startedBefore: "${ago(30)}"`,
      4,
    ],
  ])("%s", async (_, place, count) => {
    const request = async () => {
      const { body } = await running.api.graphql(
        `{ logs(first: 1, filter: { search: "zugzwang", ${place()} }) { totalCount } }`,
      );
      expect([body.errors, body.extensions?.warnings]).toEqual([undefined, undefined]);
      expect(body.data.logs.totalCount).toBe(count);
    };
    await expectBoundedReads(running, /count\(\*\).*\bchats\b/s, request, MOST_BUFFERS);
  });
});
