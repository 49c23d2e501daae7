import { beforeAll, describe, expect, test } from "@jest/globals";
import { indexable } from "../../src/platform/database/values/long-texts";
import { IDENTIFIER_KINDS, reachOf, type IdentifierKind } from "../../src/privacy/people/person";
import { useApp } from "../support/app";
import { askToForget } from "../support/erasures";
import { newAssistant } from "../support/factories";
import { expectBoundedReads, unchecked, withoutIndexes } from "../support/plans";

/** Without a worker, so that erasures stay requests. */
const running = useApp({ WORKER: "off" });

/** Ended chats of the organization, each with all identifiers; one a minute. */
const CHATS = 200_000;
/** Of these, one in so many was a call. */
const CALLS = 10;
/** Chats of each person that is looked for, all of them calls. */
const FEW = 30;
/** Pages of 8 kB that a statement may read: some for each row of a person. A read of the chats takes 9,000. */
const MOST_BUFFERS = 500;

/** Identifiers that an index contains as they are, those at the limit of 255 characters included. */
const PEOPLE = {
  "a usual identifier": "ada@example.com",
  "an identifier of 255 characters": "x".repeat(255),
  "an identifier of 255 characters that take two units each in JavaScript": "🦜".repeat(255),
} as const;
const LONG = { "an identifier of 256 characters": "x".repeat(256), "a long identifier": "long ".repeat(800) };

let organizationId: string;

beforeAll(async () => {
  const { api, database } = running;
  const assistantId = await newAssistant(api);
  ({ id: organizationId } = await api.get("/rest/v1/organization", 200));
  const insertChats = (rows: string) =>
    unchecked(`insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, started_at, ended_at, ended_reason,
       user_id, external_id, anonymous_id, unique_id, phone_number)
     select '${organizationId}', id, '${assistantId}', channel, 'ended', 'none', at, at, 'ended-by-api', person, person, person, key, key
     from (${rows}) rows (id, channel, at, person, key)`);
  const manyChats =
    insertChats(`select 'chat-' || n, case when n % ${CALLS} = 0 then 'VOICE' else 'TEXT' end, now() - n * interval '1 minute',
      'person ' || n / 4, 'person ' || n / 4 from generate_series(1, ${CHATS}) n`);
  await withoutIndexes(database, ["chats"], () => database.query(manyChats));
  const people = Object.values({ ...PEOPLE, ...LONG }).map(
    (value, index) => `('p${index}', '${value}', '${indexable(value)}')`,
  );
  await database.query(
    insertChats(`select name || '-' || n, 'VOICE', now() - n * interval '1 day', person, key
      from (values ${people.join(", ")}) people (name, person, key), generate_series(1, ${FEW}) n`),
  );
  await database.query(
    unchecked(`insert into calls (organization_id, chat_id, kind, engine, sealed_secret, created_at)
     select organization_id, id, 'WEB', 'page', 'none', started_at from chats where channel = 'VOICE' and organization_id = '${organizationId}'`),
  );
  for (const table of ["chats", "calls"]) await database.query(`vacuum analyze ${table}`);
}, 300_000);

const expectBounded = (
  request: () => Promise<unknown>,
  database: { readonly url: string } = running.database,
) => expectBoundedReads({ app: running.app, database }, /\b(chats|calls)\b/, request, MOST_BUFFERS);

const LIST = `query ($filter: CallFilter, $first: Int, $last: Int, $orderBy: ListOrder) {
  calls(filter: $filter, first: $first, last: $last, orderBy: $orderBy) { nodes { id } totalCount }
}`;

/** The ids of the chats of a person, oldest first. */
async function chatsOf(value: string): Promise<string[]> {
  const rows = await running.database.query<{ id: string }>(
    "select id from chats where user_id = $1 order by started_at, id",
    [value],
  );
  return rows.map(({ id }) => id);
}

async function reach(kind: IdentifierKind, value: string): Promise<readonly string[]> {
  const scope = running.app.database.scope(organizationId);
  return (await reachOf(scope, { kind, value }, new Date().toISOString())).chatIds;
}

describe("of 200,000 conversations that have the identifiers, a bounded part is read for", () => {
  describe.each(Object.entries(PEOPLE))("%s:", (_, value) => {
    test.each(["userId", "externalId"])("calls by their %s, and these are found", async (name) => {
      const ids = await chatsOf(value);
      const newest = ids.toReversed();
      for (const [span, expected] of [
        [{}, newest.slice(0, 20)],
        [{ last: 20 }, newest.slice(-20)],
        [{ orderBy: "OLDEST_FIRST" }, ids.slice(0, 20)],
      ] as const) {
        const list = async () =>
          (await running.api.gql(LIST, { filter: { [name]: value }, ...span })).calls as {
            nodes: { id: string }[];
            totalCount: number;
          };
        await expectBounded(list);
        const { nodes, totalCount } = await list();
        expect(nodes.map(({ id }) => id)).toEqual(expected);
        expect(totalCount).toBe(FEW);
      }
    });

    test.each(IDENTIFIER_KINDS)("the conversations of a %s, and these are found", async (kind) => {
      await expectBounded(() => reach(kind, value));
      expect(await reach(kind, value)).toEqual(await chatsOf(value));
    });
  });

  test.each(["userId", "externalId"])("calls by a %s that none has", async (name) => {
    await expectBounded(() => running.api.gql(LIST, { filter: { [name]: "nobody" } }));
  });

  test.each(IDENTIFIER_KINDS)("the number of conversations that an erasure by %s finds", async (kind) => {
    const ask = async () => (await askToForget(running, { [kind]: "person 7" })).matched as number;
    await expectBounded(ask);
    expect(await ask()).toBe(4);
  });
});

test.each(Object.entries(LONG))("finds the calls and conversations of %s", async (_, value) => {
  const ids = await chatsOf(value);
  expect(ids).toHaveLength(FEW);
  for (const name of ["userId", "externalId"]) {
    const { calls } = await running.api.gql(LIST, { filter: { [name]: value }, orderBy: "OLDEST_FIRST" });
    expect(calls.nodes.map((node: { id: string }) => node.id)).toEqual(ids.slice(0, 20));
    expect(calls.totalCount).toBe(FEW);
  }
  for (const kind of ["userId", "anonymousId"] as const) expect(await reach(kind, value)).toEqual(ids);
});

test("reads a bounded part without row-level security before the indexes for it are built", async () => {
  await running.database.query("drop index chats_of_user, chats_of_external, chats_of_anonymous");
  const owner = { url: running.database.ownerUrl };
  for (const value of [...Object.values(PEOPLE), ...Object.values(LONG)]) {
    for (const name of ["userId", "externalId"])
      await expectBounded(() => running.api.gql(LIST, { filter: { [name]: value } }), owner);
    for (const kind of IDENTIFIER_KINDS) await expectBounded(() => reach(kind, value), owner);
  }
});
