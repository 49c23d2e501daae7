import { beforeAll, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { expectBoundedReads, unchecked } from "../support/plans";

const running = useApp({ WORKER: "off" });

/** Chats of the organization, one a minute, and those of them that are live in the end: the oldest. */
const CHATS = 60_000;
const LIVE = 30;
/** Pages of 8 kB that a statement may read. A read of the chats takes 2,000. */
const MOST_BUFFERS = 300;

beforeAll(async () => {
  const { api, database } = running;
  const assistantId = await newAssistant(api);
  const { id } = await api.get("/rest/v1/organization", 200);
  await database.query(
    unchecked(`alter table chats set (autovacuum_enabled = false);
     insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, started_at, label)
     select '${id}', 'chat-' || n, '${assistantId}', 'TEXT', case when n % 2 = 0 then 'in-progress' else 'ended' end, 'none',
       now() - n * interval '1 minute', 'Caller' from generate_series(1, ${CHATS}) n`),
  );
  // Statistics from when half of the chats were live; the index no longer contains those that have ended.
  await database.query("analyze chats");
  await database.query(
    unchecked(
      `update chats set status = 'ended', ended_at = now() where id like 'chat-%' and started_at > now() - ${CHATS - 2 * LIVE} * interval '1 minute' - interval '30 seconds'`,
    ),
  );
  await database.query("vacuum chats");
}, 300_000);

const FILTER = 'filter: { status: "in-progress" }';
const LISTS: Readonly<Record<string, string>> = {
  "the first page": `chats(first: 20, ${FILTER}) { nodes { id } }`,
  "the last page": `chats(last: 20, ${FILTER}) { nodes { id } }`,
  "the first page, oldest first": `chats(first: 20, orderBy: OLDEST_FIRST, ${FILTER}) { nodes { id } }`,
  "their number": `chats(first: 1, ${FILTER}) { totalCount }`,
  "a status that no chat has": 'chats(first: 20, filter: { status: "ringing" }) { nodes { id } totalCount }',
};

test.each(Object.entries(LISTS))(
  "live chats are read without the ended ones by statistics from a time with many: %s",
  async (_, list) => {
    await expectBoundedReads(running, /\bchats\b/, () => running.api.gql(`{ ${list} }`), MOST_BUFFERS);
  },
);

test("the lists contain the chats of their status", async () => {
  const { newest, oldest, ended } = await running.api.gql(`{
    newest: chats(first: 2, ${FILTER}) { nodes { id } totalCount }
    oldest: chats(first: 2, orderBy: OLDEST_FIRST, ${FILTER}) { nodes { id } }
    ended: chats(first: 2, filter: { status: "ended" }) { nodes { id } totalCount }
  }`);
  const ids = (list: { nodes: { id: string }[] }) => list.nodes.map(({ id }) => id);
  expect(ids(newest)).toEqual([`chat-${CHATS - 2 * LIVE + 2}`, `chat-${CHATS - 2 * LIVE + 4}`]);
  expect(ids(oldest)).toEqual([`chat-${CHATS}`, `chat-${CHATS - 2}`]);
  expect(newest.totalCount).toBe(LIVE);
  expect(ids(ended)).toEqual(["chat-1", "chat-2"]);
  expect(ended.totalCount).toBe(CHATS - LIVE);
});
