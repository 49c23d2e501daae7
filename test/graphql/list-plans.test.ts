import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant, newChat, quietAssistant } from "../support/factories";
import { expectBoundedReads, statementsOf, unchecked } from "../support/plans";
import { until } from "../support/until";

const running = useApp();

/** Events of one large assistant, and of each of the small ones beside it; one event a minute. */
const LARGE = 75_000;
const SMALL = 50;
const SMALL_ASSISTANTS = 200;
const EVENTS = LARGE + SMALL * SMALL_ASSISTANTS;
const PEOPLE = 30_000;
/** Entries of the audit log about messages, beside a few others. */
const CHANGES = 60_000;
/** Pages of 8 kB that a statement may read: those of 20 events of each name. A full read takes 2,000. */
const MOST_BUFFERS = 600;

/** Users of tokens: one creates an assistant, the other makes a third of the changes. */
const RARE_PERSON = "ada@example.com";
const COMMON_PERSON = "bob@example.com";

/** Those of the entries of the audit log of some days: PostgreSQL 15 reads 207, later ones fewer. */
const FEW_BUFFERS = 220;

const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

let large: string;
let small: string;
let without: string;
let destinationId: string;
let limited: Api;

beforeAll(async () => {
  const { api, database } = running;
  [large, small, without] = [await newAssistant(api), await newAssistant(api), await newAssistant(api)];
  destinationId = (await api.post("/rest/v1/settings", { url: "http://127.0.0.1:1/", secret: "s" }, 201)).id;
  const { value } = await api.post("/rest/v1/organization/keys", { assistantIds: [small, without] }, 200);
  limited = api.as({ "X-API-Key": value });
  const { id } = await api.get("/rest/v1/organization", 200);
  const hex = "lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')";
  await database.query(
    unchecked(`insert into events (organization_id, id, name, type, assistant_id, chat_id, body, transaction, created_at)
     select '${id}', left(hex, 8) || '-' || right(hex, 4) || '-7000-8000-' || lpad(n::text, 12, '0'),
       case when n % 10000 = 7 then 'function-call' when n % 2 = 0 then 'session-start' else 'session-end' end, 'TEXT',
       case when n % 17 <> 3 or n / 17 >= ${SMALL * SMALL_ASSISTANTS} then '${large}' when n / 17 % ${SMALL_ASSISTANTS} = 0 then '${small}'
         else 'small-' || n / 17 % ${SMALL_ASSISTANTS} end,
       'chat-' || n / 5, '{"event":"session-start","data":{}}', n::text::xid8, at
     from generate_series(1, ${EVENTS}) n,
       lateral (select now() - (${EVENTS} - n) * interval '1 minute' as at) time, lateral (select ${hex} as hex) text`),
  );
  await database.query(
    unchecked(`insert into end_users (organization_id, id, assistant_id, unique_id, created_at)
     select '${id}', 'person-' || n, '${large}', 'person ' || n, now() - n * interval '1 minute' from generate_series(1, ${PEOPLE}) n`),
  );
  for (const userId of [RARE_PERSON, COMMON_PERSON]) {
    const { token } = await api.post("/rest/v1/organization/token", { userId }, 200);
    await newAssistant(api.as({ Authorization: `Bearer ${token}` }));
  }
  await api.gql("{ auditHead { position } }"); // gives the entries so far their positions
  await database.query(
    unchecked(`update audit_heads set position = position + ${CHANGES} where organization_id = '${id}';
     insert into audit_events (organization_id, position, id, kind, actor, key_id, person, address, interface, operation, record_type,
       record_id, fields, created_at, previous_hash, hash)
     select '${id}', position - ${CHANGES} + n, 'entry-' || n, 'CHANGE', 'SECRET', 'key', case when n % 3 = 0 then common.person end,
       '203.0.113.1', 'GRAPHQL', 'postMessage', 'Chat', 'chat-' || n,
       case when n % 50 = 0 then jsonb_build_array(jsonb_build_object('name', 'uniqueId', 'digest', 'of ' || n)) else '[]' end,
       now() - (${CHANGES} - n) * interval '1 minute', 'none', 'none'
     from audit_heads, generate_series(1, ${CHANGES}) n, (select person from audit_events
       where organization_id = '${id}' and person is not null order by position desc limit 1) common where organization_id = '${id}'`),
  );
  // A clock was wrong for some minutes.
  for (const table of ["events", "audit_events"])
    await database.query(
      `update ${table} set created_at = created_at + interval '8 hours' where created_at between '${ago(40.3)}' and '${ago(40.29)}'`,
    );
  await database.query(`update ledger_heads set position = ${EVENTS} where organization_id = '${id}'`);
  for (const table of ["events", "end_users", "audit_events"])
    // A job may have a snapshot in which rows are not visible yet.
    await until(async () => {
      await database.query(`vacuum analyze ${table}`);
      const visible = `select from pg_class where relname = '${table}' and relallvisible > relpages / 2`;
      return (await database.query(visible)).length > 0;
    });
});

const TIMES: Readonly<Record<string, object>> = {
  "": {},
  "on an old day": { createdAfter: ago(40), createdBefore: ago(39) },
  "before a time": { createdBefore: ago(40) },
  "after a time": { createdAfter: ago(40) },
};
const NAMES = [undefined, "session-end", "function-call", "call-recording"];
const ASSISTANTS: Readonly<Record<string, () => string | undefined>> = {
  "any assistant": () => undefined,
  "a large one": () => large,
  "a small one": () => small,
  "one without events": () => without,
};
const CASES = Object.keys(TIMES).flatMap((time) =>
  NAMES.flatMap((name) =>
    Object.keys(ASSISTANTS).map((owner) => [name ?? "any event", owner, time] as const),
  ),
);

const LIST = `query ($filter: EventFilter, $first: Int, $last: Int, $orderBy: ListOrder, $after: String) {
  events(filter: $filter, first: $first, last: $last, orderBy: $orderBy, after: $after) { nodes { id } pageInfo { endCursor } }
}`;

interface Filter {
  readonly name?: string;
  readonly assistantId?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
}
const filterOf = ([name, owner, time]: readonly [string, string, string]): Filter => {
  const assistantId = ASSISTANTS[owner]!();
  return {
    ...(name !== "any event" && { name }),
    ...(assistantId !== undefined && { assistantId }),
    ...TIMES[time],
  };
};

/** The ids that a filter should find, read from the table alone. */
async function expected(filter: Filter, order: "asc" | "desc", offset = 0): Promise<string[]> {
  const { name, assistantId, createdAfter, createdBefore } = filter;
  const rows = await running.database.query<{ id: string }>(
    `select id from events where ($1::text is null or name = $1) and ($2::text is null or assistant_id = $2)
       and ($3::timestamptz is null or created_at > $3) and ($4::timestamptz is null or created_at < $4)
     order by transaction ${order} offset $5 limit 20`,
    [name ?? null, assistantId ?? null, createdAfter ?? null, createdBefore ?? null, offset],
  );
  return rows.map(({ id }) => id);
}

const expectBounded = (tables: RegExp, request: () => Promise<unknown>, most = MOST_BUFFERS) =>
  expectBoundedReads(running, tables, request, most);

describe("with 85,000 events, a bounded part of them is read, and the right ones are found, for", () => {
  test.each(CASES)("%s of %s %s", async (...one) => {
    const filter = filterOf(one);
    const page = async (query: object) => (await running.api.gql(LIST, { filter, ...query })).events;
    await expectBounded(/\bevents\b/, () => page({}));
    await expectBounded(/\bevents\b/, () => page({ last: 20 }));
    const idsOf = ({ nodes }: { nodes: { id: string }[] }) => nodes.map(({ id }) => id);
    const newest = await page({});
    expect(idsOf(newest)).toEqual(await expected(filter, "desc"));
    expect(idsOf(await page({ orderBy: "OLDEST_FIRST" }))).toEqual(await expected(filter, "asc"));
    expect(idsOf(await page({ last: 20 })).toReversed()).toEqual(await expected(filter, "asc"));
    if (newest.pageInfo.endCursor !== null)
      expect(idsOf(await page({ after: newest.pageInfo.endCursor }))).toEqual(
        await expected(filter, "desc", 20),
      );
  });
});

describe("of 85,000 events, a page far into a period reads a bounded part, and is the right one,", () => {
  /** Entries before the page. Reading them takes 700 pages of an index. */
  const FAR = 70_000;

  test.each<["NEWEST_FIRST" | "OLDEST_FIRST", object]>([
    ["NEWEST_FIRST", { createdBefore: ago(0.1) }],
    ["OLDEST_FIRST", { createdAfter: ago(58) }],
  ])("%s", async (orderBy, period) => {
    const order = orderBy === "NEWEST_FIRST" ? "desc" : "asc";
    const [before] = await expected(period, order, FAR - 1);
    const page = async (filter: object): Promise<{ id: string }[]> =>
      (await running.api.gql(LIST, { filter, after: before, orderBy })).events.nodes;
    await expectBounded(/\bevents\b/, () => page(period), 400);
    await expectBounded(/\bevents\b/, () => page({ ...period, assistantId: large }));
    expect((await page(period)).map(({ id }) => id)).toEqual(await expected(period, order, FAR));
  });
});

describe("with a key for assistants with few events, a bounded part is read, and the right ones are found, for", () => {
  test.each(Object.entries(TIMES))("events %s", async (_, filter) => {
    const page = async () =>
      (await limited.gql(LIST, { filter })).events.nodes.map(({ id }: { id: string }) => id);
    await expectBounded(/\bevents\b/, page);
    expect(await page()).toEqual(await expected({ ...filter, assistantId: small }, "desc"));
  });
});

describe("of 85,000 events, a replay reads a bounded part", () => {
  const REPLAY = "mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events } }";
  const replay = async (filter: object) =>
    (await running.api.gql(REPLAY, { input: { destinationId, filter } })).replayEvents.events as number;

  test.each([
    ["of a rare name", { name: "function-call" }, 9],
    ["of an absent name", { name: "call-recording" }, 0],
  ])("%s", async (_, filter, events) => {
    await expectBounded(/\bevents\b/, () => replay(filter));
    expect(await replay(filter)).toBe(events);
  });

  // PostgreSQL may rather read a table of this size than a third of its index.
  test.each([
    ["of an old day", { createdAfter: ago(35), createdBefore: ago(34) }],
    ["of the last day", { createdAfter: ago(1) }],
  ])("%s, and exactly its events are found", async (_, filter) => {
    expect(Math.abs((await replay(filter)) - 1440)).toBeLessThanOrEqual(1); // one event a minute
  });
});

describe("of 30,000 people, a bounded part is read for", () => {
  test.each([
    ["the first page", "first: 20"],
    ["the last page", "last: 20"],
    ["the first page, oldest first", "orderBy: OLDEST_FIRST"],
  ])("%s", async (_, query) => {
    await expectBounded(/\bend_users\b/, () => running.api.gql(`{ endUsers(${query}) { nodes { id } } }`));
  });
});

describe("of 60,000 entries of the audit log, a bounded part is read for", () => {
  const LIST = `query ($filter: AuditEventFilter, $last: Int) {
    auditEvents(filter: $filter, last: $last) { nodes { operation createdAt } pageInfo { hasNextPage hasPreviousPage } }
  }`;
  const COUNT = "query ($filter: AuditEventFilter) { auditEvents(filter: $filter, first: 1) { totalCount } }";
  interface Page {
    readonly nodes: readonly { readonly operation: string; readonly createdAt: string }[];
    readonly pageInfo: object;
  }
  const page = async (filter: object, query: object = {}): Promise<Page> =>
    (await running.api.gql(LIST, { filter, ...query })).auditEvents;

  test.each([
    ["the first page", {}, 20],
    ["messages", { operation: "postMessage" }, 20],
    ["a rare operation", { operation: "createAssistant" }, 5],
    ["an absent operation", { operation: "deleteLogs" }, 0],
    ["a rare type", { recordType: "Assistant" }, 5],
    ["an absent type", { recordType: "Workflow" }, 0],
    ["an absent key", { keyId: "other" }, 0],
    ["an absent address", { address: "203.0.113.2" }, 0],
    ["an absent record", { recordId: "other" }, 0],
    ["an absent actor", { actor: "VISITOR" }, 0],
    ["a rare actor", { actor: "TOKEN" }, 2],
    ["an absent person", { person: "nobody" }, 0],
    ["a person by and about whom there are few", { person: RARE_PERSON }, 2],
    ["a person of many", { person: COMMON_PERSON }, 20],
    ["an absent operation of a person of few", { person: RARE_PERSON, operation: "deleteLogs" }, 0],
    ["an absent operation of a common actor", { operation: "deleteLogs", actor: "SECRET" }, 0],
    ["an old day", { from: ago(40), to: ago(39) }, 20],
    ["before a time", { to: ago(40) }, 20],
    ["after a time", { from: ago(40) }, 20],
    ["an absent operation of an old day", { operation: "deleteLogs", from: ago(40), to: ago(39) }, 0],
  ])("%s", async (_, filter, entries) => {
    for (const query of [{}, { last: 20 }]) {
      await expectBounded(/\baudit_events\b/, () => page(filter, query), FEW_BUFFERS);
      const { nodes, pageInfo } = await page(filter, query);
      expect(nodes).toHaveLength(entries);
      expect(pageInfo).toMatchObject(entries < 20 ? { hasNextPage: false, hasPreviousPage: false } : {});
    }
  });

  test("disclosures", async () => {
    await expectBounded(/\baudit_events\b/, () => page({ kind: "DISCLOSURE" }));
    expect((await page({ kind: "DISCLOSURE" })).nodes.length).toBeGreaterThan(0);
  });

  test("an old day, and exactly its entries are found", async () => {
    const [from, to] = [ago(40), ago(39)];
    const stored = await running.database.query<{ at: Date }>(
      `select created_at as at from audit_events where created_at >= '${from}' and created_at < '${to}' order by position`,
    );
    const times = stored.map(({ at }) => at.toISOString());
    const found = ({ nodes }: Page) => nodes.map(({ createdAt }) => createdAt).toReversed();
    expect(found(await page({ from, to }))).toEqual(times.slice(-20));
    expect(found(await page({ from, to }, { last: 20 }))).toEqual(times.slice(0, 20));
  });

  test.each<[string, object, string]>([
    ["all", {}, "true"],
    [
      "an old day",
      { from: ago(40), to: ago(39) },
      `created_at >= '${ago(40)}' and created_at < '${ago(39)}'`,
    ],
    [
      "a rare operation of an old day",
      { operation: "createAssistant", from: ago(40), to: ago(39) },
      `operation = 'createAssistant' and created_at >= '${ago(40)}' and created_at < '${ago(39)}'`,
    ],
    ["a rare actor", { actor: "TOKEN" }, "actor = 'TOKEN'"],
    ["an absent person", { person: "nobody" }, "false"],
  ])("the number of entries of %s", async (_, filter, condition) => {
    const count = async () => (await running.api.gql(COUNT, { filter })).auditEvents.totalCount as number;
    await expectBounded(/\baudit_events\b/, count, FEW_BUFFERS);
    const counted = await count(); // seals the entries so far
    const [stored] = await running.database.query<{ count: number }>(
      `select count(*)::integer as count from audit_events where ${condition}`,
    );
    expect(counted).toBe(stored!.count);
  });
});

describe("while the indexes are not built yet", () => {
  const unindexed = useApp();

  test("events are found as before, and a replay counts them", async () => {
    const { api, database } = unindexed;
    await database.query("drop index events_of_name, events_of_assistant, events_by_time");
    const assistants = [await quietAssistant(api), await quietAssistant(api)] as const;
    const chats = [await newChat(api, assistants[0]), await newChat(api, assistants[1])] as const;
    const find = async (filter: object) => (await api.gql(LIST, { filter })).events.nodes.length as number;
    const counts = async () => [
      await find({ assistantId: assistants[0] }),
      await find({ name: "session-start" }),
      await find({ assistantId: assistants[1], name: "call-recording" }),
      await find({ chatId: chats[1], createdAfter: ago(1) }),
      await find({ createdBefore: ago(1) }),
    ];
    const wanted = [2, 2, 0, 2, 0];
    expect(await counts()).toEqual(wanted);
    const { id } = await api.post("/rest/v1/settings", { url: "http://127.0.0.1:1/", secret: "s" }, 201);
    const replay = `mutation ($input: ReplayEventsInput!) { replayEvents(input: $input) { events } }`;
    const input = { destinationId: id, filter: { assistantId: assistants[0] } };
    expect((await api.gql(replay, { input })).replayEvents.events).toBe(2);
    for (const [name, columns] of [
      ["events_of_name", "name, transaction, id"],
      ["events_of_assistant", "assistant_id, name, transaction, id"],
      ["events_by_time", "created_at"],
    ])
      await database.query(`create index ${name} on events (organization_id, ${columns})`);
    const used = () => statementsOf(unindexed.app.database, /wanted/, () => find({ name: "session-start" }));
    await until(async () => (await used()).length > 0);
    expect(await counts()).toEqual(wanted);
  });
});
