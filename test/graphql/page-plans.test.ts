import { beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { expectBoundedReads, unchecked } from "../support/plans";

const running = useApp();

/** Entries of each list, one a minute. */
const ENTRIES = 60_000;
const MIDDLE = ENTRIES / 2;
/** Pages of 8 kB that a statement may read. The entries before the middle take from 400 in an index to 30,000. */
const MOST_BUFFERS = 220;

/** The ids of the lists begin with a version 7 UUID's time, as those of the service do. */
const idOf = (at: string) => `lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0')`;

let assistantId: string;
const ids: Record<string, string> = {};

beforeAll(async () => {
  const { api, database } = running;
  assistantId = await newAssistant(api);
  await api.gql("{ auditEvents { totalCount } }"); // seals the entries so far
  const { id: organization } = await api.get("/rest/v1/organization", 200);
  const newest = new Date().toISOString();
  const times = `generate_series(1, ${ENTRIES}) n, lateral (select '${newest}'::timestamptz - (${ENTRIES} - n) * interval '1 minute' as at) time,
    lateral (select ${idOf("at")} as hex) text, lateral (select left(hex, 8) || '-' || right(hex, 4) || '-7000-8000-' || lpad(n::text, 12, '0') as id) ids`;
  const insert = (table: string, columns: string, values: string) =>
    database.query(
      unchecked(
        `insert into ${table} (organization_id, ${columns}) select '${organization}', ${values} from ${times}`,
      ),
    );
  await insert(
    "chats",
    "id, assistant_id, channel, status, status_event_id, started_at, ended_at, unique_id, label",
    `id, '${assistantId}', 'VOICE', 'ended', 'none', at, at, 'person 1', 'Caller'`,
  );
  await insert("calls", "chat_id, kind, engine, sealed_secret, created_at", "id, 'WEB', 'page', 'none', at");
  await insert(
    "events",
    "id, name, type, assistant_id, chat_id, body, transaction, created_at",
    `id, case when n % 3 = 0 then 'session-start' else 'session-end' end, 'VOICE', '${assistantId}', id, '{"event":"session-start","data":{}}', n::text::xid8, at`,
  );
  await insert(
    "end_users",
    "id, assistant_id, unique_id, created_at",
    `id, '${assistantId}', 'person ' || n, at`,
  );
  await database.query(
    unchecked(`update audit_heads set position = position + ${ENTRIES} where organization_id = '${organization}';
     insert into audit_events (organization_id, position, id, kind, actor, interface, operation, record_type, record_id, fields, created_at,
       previous_hash, hash)
     select '${organization}', position - ${ENTRIES} + n, id, 'CHANGE', 'SECRET', 'GRAPHQL', 'postMessage', 'Chat', id, '[]', at, 'none', 'none'
     from audit_heads, ${times} where organization_id = '${organization}'`),
  );
  await database.query(
    `update ledger_heads set position = ${ENTRIES} where organization_id = '${organization}'`,
  );
  for (const table of ["chats", "calls", "events", "end_users", "audit_events"]) {
    await database.query(`vacuum analyze ${table}`);
    const id = { calls: "chat_id", audit_events: "position" }[table] ?? "id";
    const order =
      { events: "transaction", audit_events: "position", chats: "started_at" }[table] ?? "created_at";
    const [row] = await database.query<{ id: string }>(
      `select ${id} as id from ${table} where organization_id = '${organization}' order by ${order} offset ${MIDDLE} limit 1`,
    );
    ids[table] = row!.id;
  }
}, 300_000);

const SPANS = "$first: Int, $last: Int, $after: String, $before: String, $orderBy: ListOrder";
const ARGUMENTS = "first: $first, last: $last, after: $after, before: $before, orderBy: $orderBy";
interface Nodes {
  readonly nodes: readonly { readonly id: string }[];
}
/** The list of a query, of which pages are read, and the table with its entries. */
const LISTS: Readonly<Record<string, readonly [table: string, list: string]>> = {
  logs: ["chats", `logs(ARGUMENTS) { nodes { id } }`],
  "logs of a channel": ["chats", `logs(ARGUMENTS, filter: { type: VOICE }) { nodes { id } }`],
  "logs of an assistant": ["chats", `logs(ARGUMENTS, filter: { assistantId: "ASSISTANT" }) { nodes { id } }`],
  "conversations of an assistant": [
    "chats",
    `assistant(id: "ASSISTANT") { chats(ARGUMENTS) { nodes { id } } }`,
  ],
  conversations: ["chats", `chats(ARGUMENTS) { nodes { id } }`],
  calls: ["calls", `calls(ARGUMENTS) { nodes { id } }`],
  events: ["events", `events(ARGUMENTS) { nodes { id } }`],
  "events of a name": ["events", `events(ARGUMENTS, filter: { name: "session-end" }) { nodes { id } }`],
  "events of an assistant": [
    "events",
    `events(ARGUMENTS, filter: { assistantId: "ASSISTANT" }) { nodes { id } }`,
  ],
  people: ["end_users", `endUsers(ARGUMENTS) { nodes { id } }`],
  "entries of the audit log": ["audit_events", `auditEvents(ARGUMENTS) { nodes { id } }`],
};

describe.each(Object.entries(LISTS))("of 60,000 %s, a bounded part is read", (_, [table, list]) => {
  test.each([
    ["after an entry in the middle", (cursor: string) => ({ first: 20, after: cursor })],
    ["before an entry in the middle", (cursor: string) => ({ last: 20, before: cursor })],
    ["after one, oldest first", (cursor: string) => ({ first: 20, after: cursor, orderBy: "OLDEST_FIRST" })],
  ])("%s", async (_, spanOf) => {
    const span = spanOf(ids[table]!);
    const text = list.replace("ARGUMENTS", ARGUMENTS).replace("ASSISTANT", assistantId);
    const page = async () => {
      const found = await running.api.gql(`query (${SPANS}) { ${text} }`, span);
      const [top] = Object.values(found) as [Partial<Nodes> & { chats: Nodes }];
      return top.nodes ?? top.chats.nodes;
    };
    expect(await page()).toHaveLength(20);
    await expectBoundedReads(running, new RegExp(`\\b${table}\\b`), page, MOST_BUFFERS);
  });
});
