import { beforeAll, describe, expect, test } from "@jest/globals";
import { crc32 } from "node:zlib";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { connectionsOf } from "../support/connections";
import { newAssistant, newChat, say } from "../support/factories";
import { unchecked } from "../support/plans";
import { buildSeveral } from "../support/several";

const running = useApp();

/** The table of the entries of a list. */
interface Stored {
  readonly table: string;
  readonly id?: string;
  /** Column of the time or the position. */
  readonly by?: string;
  /** Values, in SQL, that differ from entry to entry. */
  readonly own?: Readonly<Record<string, string>>;
  /** Whether an entry contains secrets that are sealed with its id. */
  readonly isSealed?: true;
}

const CHATS: Stored = { table: "chats", by: "started_at" };
const REQUESTED = "requested_at";
const LISTS: Readonly<Record<string, Stored>> = {
  "Assistant.chats": CHATS,
  "Assistant.versions": { table: "assistant_versions", id: "number" },
  "EndUser.chats": CHATS,
  "Query.calls": { table: "calls", id: "chat_id" },
  "Query.chats": CHATS,
  "Query.deploymentsConnection": { table: "deployments", own: { key: "null" } },
  "Query.endUserExports": { table: "end_user_exports", by: REQUESTED },
  "Query.endUsers": { table: "end_users", own: { unique_id: "new_id" } },
  "Query.erasures": { table: "erasures", by: REQUESTED },
  "Query.events": { table: "events", by: "transaction" },
  "Query.keysConnection": { table: "api_keys", isSealed: true },
  "Query.logs": CHATS,
  "Query.projectsConnection": { table: "projects", own: { key: "null" } },
  "Query.telephonyConnectionsConnection": { table: "telephony_connections", isSealed: true },
  "Query.webhookDestinationsConnection": { table: "webhook_destinations", isSealed: true },
  "Query.workflowsConnection": { table: "workflows", own: { key: "null" } },
  "WebhookDestination.deliveries": { table: "deliveries", by: "id" },
};
/** Lists whose entries nothing removes. */
const PERMANENT = ["Query.auditEvents"];

/** Ids of imported records: not sorted by time, of any form, and of any length. */
const IDS = [
  "zz",
  "7",
  "a b",
  "Ä.ö/ü",
  "0190aaaa-0000-7-2--3-x",
  "0190aaaa-0000-7000-8000-000000000000",
  "m'\"\\",
  "b".repeat(255),
];
/** Their times: some are equal, and others differ by a microsecond. */
const TIMES = ["123456", "123457", "123456", "123456", "123457", "9", "123", "123456"];

const CONNECTIONS = connectionsOf();
let api: Api;
let organization: string;
const variables: Record<string, string> = {};

beforeAll(async () => {
  const made = await running.otherOrganization();
  ({ api } = made);
  organization = ((await api.get("/rest/v1/organization", 200)) as { id: string }).id;
  variables.assistantId = await newAssistant(api);
  for (const name of ["Bea", "Cyd", "Dan", "Eve"])
    await api.patch(`/rest/v1/assistants/${variables.assistantId}`, { name }, 200);
  await buildSeveral(api, made.publicKey, 3);
  await newChat(api, variables.assistantId, { uniqueId: "ada" });
  const destination = { url: "https://example.com", secret: "s" };
  variables.destinationId = ((await api.post("/rest/v1/settings", destination, 201)) as { id: string }).id;
  for (let more = 0; more < 3; more++) await api.post("/rest/v1/settings", destination, 201);
  await newChat(api, variables.assistantId, { uniqueId: "ada" });
  for (const list of Object.values(LISTS)) await fill(list);
});

const filled = new Set<string>();

/** Which entry of a table is copied. */
const likeOf = (table: string): string =>
  ({
    chats: "unique_id = 'ada'",
    deliveries: `destination_id = '${variables.destinationId}'`,
  })[table] ?? "true";

/** Adds entries to a table: copies of one that is there, with the ids and times of imported ones. */
async function fill({ table, id = "id", by = "created_at", own = {}, isSealed }: Stored): Promise<void> {
  if (filled.has(table) || table === "assistant_versions") return;
  filled.add(table);
  const { query } = running.database;
  if (isSealed) {
    await query(`update ${table} set ${by} = '2026-03-01 10:00:00.123456+00' where organization_id = $1`, [
      organization,
    ]);
    return;
  }
  const time =
    by === "transaction" ? "(length(micros) + 4000000)::text" : "'2026-03-01 10:00:00.' || micros || '+00'";
  const place = by === "id" ? {} : { [by]: time };
  const differing = Object.entries({ [id]: "new_id", ...place, ...own }).map(
    ([name, sql]) => `'${name}', ${sql}`,
  );
  await query(
    unchecked(`insert into ${table} select filled.* from (select * from ${table} where organization_id = '${organization}' and ${likeOf(table)} limit 1) one,
     unnest(array[${IDS.map(quoted).join(", ")}], array[${TIMES.map(quoted).join(", ")}]) with ordinality as imported (new_id, micros, n),
     jsonb_populate_record(null::${table}, to_jsonb(one) || jsonb_build_object(${differing.join(", ")})) filled`),
  );
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

type Size = { readonly first: number } | { readonly last: number };
interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
  readonly pageInfo: Readonly<Record<"startCursor" | "endCursor", string | null>> &
    Readonly<Record<"hasNextPage" | "hasPreviousPage", boolean>>;
}

const FIELDS = "edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

async function read(name: string, given: object): Promise<Page> {
  const { document, pageIn } = CONNECTIONS[name]!;
  const text = document(FIELDS);
  const named = Object.entries(variables).filter(([variable]) => text.includes(`$${variable}`));
  return pageIn(await api.gql(text, { ...given, ...Object.fromEntries(named) })) as Page;
}

/** Removes an entry without its dependents. @returns puts it back */
async function remove({ table, id = "id" }: Stored, entry: string): Promise<() => Promise<unknown>> {
  const { query } = running.database;
  const [, version] = /\.(\d+)$/.exec(entry) ?? [];
  const value =
    table === "assistant_versions"
      ? `${version} and assistant_id = ${quoted(variables.assistantId!)}`
      : quoted(entry);
  const where = `organization_id = '${organization}' and ${id} = ${value}`;
  const [row] = await query<{ row: string }>(
    `select to_jsonb(t)::text as row from ${table} t where ${where}`,
  );
  await query(unchecked(`delete from ${table} where ${where}`));
  const stored = quoted(row!.row);
  return () =>
    query(unchecked(`insert into ${table} select * from jsonb_populate_record(null::${table}, ${stored})`));
}

/** Reads a list from page to page, and removes the entry of each cursor before its page is read. */
async function walk(name: string, orderBy: string, size: Size): Promise<string[]> {
  const isForward = "first" in size;
  const found: string[] = [];
  const putBack: (() => Promise<unknown>)[] = [];
  for (let place = {}; ;) {
    const { edges, pageInfo } = await read(name, { ...size, ...place, orderBy });
    const ids = edges.map(({ node }) => node.id);
    if (isForward) found.push(...ids);
    else found.unshift(...ids);
    const cursor = isForward ? pageInfo.endCursor : pageInfo.startCursor;
    if (!(isForward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) break;
    const last = (isForward ? ids.at(-1) : ids[0])!;
    if (!PERMANENT.includes(name)) putBack.push(await remove(LISTS[name]!, last));
    place = isForward ? { after: cursor } : { before: cursor };
  }
  for (const back of putBack) await back();
  return found;
}

test("every connection has its row", () => {
  expect(Object.keys(CONNECTIONS).sort()).toEqual([...Object.keys(LISTS), ...PERMANENT].sort());
});

describe.each(Object.keys(CONNECTIONS))("%s", (name) => {
  const sizes: Size[] = [{ first: 1 }, { first: 2 }, { first: 3 }, { last: 1 }, { last: 2 }, { last: 3 }];
  const cases = ["NEWEST_FIRST", "OLDEST_FIRST"].flatMap((orderBy) =>
    sizes.map((size) => [orderBy, size] as const),
  );

  test("has imported entries", async () => {
    const ids = (await read(name, { first: 100 })).edges.map(({ node }) => node.id);
    expect(ids.length).toBeGreaterThanOrEqual(3);
    const list = LISTS[name];
    if (list && !list.isSealed && list.table !== "assistant_versions")
      expect(ids).toEqual(expect.arrayContaining(IDS));
  });

  test.each(cases)(
    "is read completely while the entries of its cursors are removed: %s, %j",
    async (orderBy, size) => {
      const list = (await read(name, { first: 100, orderBy })).edges.map(({ node }) => node.id);
      expect(await walk(name, orderBy, size)).toEqual(list);
      expect((await read(name, { first: 100, orderBy })).edges.map(({ node }) => node.id)).toEqual(list);
    },
  );
});

const CHATS_AFTER =
  "query ($after: String, $before: String) { chats(after: $after, before: $before) { nodes { id } } }";
const refused = async (cursor: string, path: "after" | "before" = "after", document = CHATS_AFTER) =>
  (await api.gqlError(document, { [path]: cursor })).extensions;
const unknown = (path: string) => ({
  code: "BAD_USER_INPUT",
  details: [{ path, message: expect.stringContaining("must be a cursor of another page") }],
});
const sumOf = (place: string, id: string) => crc32(`${place}-${id}`).toString(16).padStart(8, "0");
/** A cursor with a checksum, as the service makes them in lists by time. */
const forged = (place: string, id = "x") => `${place}-${sumOf(place, id)}-${id}`;
/** The same in lists by id or by the position of an event. */
const forgedAfter = (place: string, id = "x") => `${id}-${place}-${sumOf(place, id)}`;
/** The beginning of a UUID with a time. */
const uuidAt = (ms: number) =>
  ms
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.*)(.{4})$/, "$1-$2-7-");
const TIME = uuidAt(Date.UTC(2026, 2, 1));

test("each character of a cursor counts", async () => {
  const { endCursor } = (await read("Query.chats", { first: 1 })).pageInfo;
  for (let at = 0; at < endCursor!.length; at++) {
    const other = endCursor![at] === "1" ? "2" : "1";
    const changed = `${endCursor!.slice(0, at)}${other}${endCursor!.slice(at + 1)}`;
    for (const path of ["after", "before"] as const)
      expect(await refused(changed, path)).toMatchObject(unknown(path));
  }
});

test.each([
  ["a time after the last year of four digits", forged(`${uuidAt(Date.UTC(10_000, 0))}0-`)],
  ["a time longer than any", forged(`1${TIME}0-`)],
  ["no time", forged("-7-0-")],
  ["a number that is none", forged(`${TIME}nan-`)],
  ["too many microseconds", forged(`${TIME}1000-`)],
  ["negative microseconds", forged(`${TIME}-1-`)],
  ["a part of an entry that is no number", forged(`${TIME}0-x`)],
  ["a part of an entry beyond all parts", forged(`${TIME}0-1234567890`)],
  ["a position of another list", forgedAfter("e-5")],
  ["an id of another list", forgedAfter("d-")],
  ["an unknown place", forgedAfter("f-5")],
])("a cursor with %s is refused, even with its checksum", async (_, cursor) => {
  expect(await refused(cursor)).toMatchObject(unknown("after"));
});

test("an event's cursor with a position out of range is refused", async () => {
  const events = "query ($after: String) { events(after: $after) { nodes { id } } }";
  for (const position of ["1".repeat(20), "-1", "1e3", ""])
    expect(await refused(forgedAfter(`e-${position}`), "after", events)).toMatchObject(unknown("after"));
  expect(
    (await api.gql(events, { after: forgedAfter(`e-${"9".repeat(19)}`) })).events.nodes.length,
  ).toBeGreaterThan(0);
});

test("cursors that are too long or contain NUL are refused", async () => {
  for (const id of ["x".repeat(300), "a\0b"])
    expect(await refused(forged(`${TIME}0-`, id))).toMatchObject({
      code: "BAD_USER_INPUT",
      details: [{ path: "after" }],
    });
});

test("a cursor of another organization is only a time in the caller's own list", async () => {
  const { endCursor } = (await read("Query.chats", { last: 1 })).pageInfo;
  const other = await running.otherOrganization();
  const own = await newChat(other.api, await newAssistant(other.api));
  const { chats } = await other.api.gql(CHATS_AFTER, { before: endCursor });
  expect(chats.nodes).toEqual([{ id: own }]);
});

test("a search does not continue within a log of another organization, or of another assistant", async () => {
  const search = `query ($after: String, $filter: LogFilter) { logs(after: $after, filter: $filter) { nodes { id } } }`;
  const other = await running.otherOrganization();
  const theirs = await newChat(other.api, await newAssistant(other.api));
  const mine = await newChat(api, await newAssistant(api));
  for (const id of [theirs, mine]) {
    await say(id === mine ? api : other.api, id, "A zugzwang", "USER");
    const after = forged(`${TIME}0-0`, id);
    const found = async (filter: object) =>
      (await api.gql(search, { after, filter: { search: "zugzwang", ...filter } })).logs.nodes;
    expect(await found({ assistantId: variables.assistantId })).toEqual([]);
    expect(await found({})).toEqual(id === mine ? [{ id }] : []);
  }
});

test("the id of an entry is a cursor, too, as long as the entry is there", async () => {
  const list = (await read("Query.chats", { first: 100 })).edges.map(({ node }) => node.id);
  const at = list.indexOf("a b");
  const { chats } = await api.gql(CHATS_AFTER, { after: "a b" });
  expect(chats.nodes).toEqual(list.slice(at + 1).map((id) => ({ id })));
  const putBack = await remove(CHATS, "a b");
  expect(await refused("a b")).toMatchObject(unknown("after"));
  await putBack();
});
