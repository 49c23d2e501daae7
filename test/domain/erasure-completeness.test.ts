import { beforeAll, describe, expect, test } from "@jest/globals";
import { countLogs } from "../../src/chats/logs/count-logs";
import { HOMES } from "../../src/platform/database/home";
import { useEngine } from "../support/engine";
import { forget } from "../support/erasures";
import { archiveOf } from "../support/exports";
import { filesWith, IDS, MARK, meetMarkedPerson, PHONE, tablesWith } from "../support/marked-person";
import { until } from "../support/until";
import { isConfigured, UNTOUCHED } from "../support/untouched-columns";

/*
 * A person uses every feature with a marker in all texts. After their erasure the test searches every column of every
 * table for the marker. A table is covered if it had the marker before, because whole rows are deleted. In other tables
 * every text column must be an input of the organization or listed in UNTOUCHED, so a new table or column fails here
 * until it is considered.
 */
const running = useEngine({ CALL_SILENCE_SECONDS: "3600" });
/** Changes of the lists of logs have the ids of chats until a job has counted them, within a minute. */
const allCounted = () =>
  until(async () => {
    await countLogs(running.app.database);
    return (await running.database.query("select from log_changes")).length === 0;
  });
let chats: string[];
let before: Record<string, number>;
beforeAll(async () => {
  chats = await meetMarkedPerson(running);
  await allCounted();
  before = await tablesWith(running, [MARK, PHONE, ...chats]);
});

/** The audit log outlives its records: it has their ids, and keyed digests of texts. */
const AUDIT = /^audit_/;

/** Parts of an export that contain the data of a table. */
const EXPORTED: Readonly<Record<string, readonly string[]>> = {
  assistant_versions: ["versions.ndjson"],
  assistants: ["versions.ndjson"],
  calls: ["calls.ndjson"],
  chats: ["chats.ndjson"],
  deliveries: ["deliveries.ndjson"],
  end_users: ["people.ndjson"],
  events: ["events.ndjson"],
  files: ["files.ndjson"],
  messages: ["messages.ndjson"],
  sms_contacts: ["people.ndjson"],
  sms_received: ["texts.ndjson"],
  sms_sent: ["texts.ndjson"],
};
/** Tables that copy data of others, temporarily or for a search, or that have only the id of a conversation. */
const COPIES = new Set([
  "call_lookup",
  "conversation_facts_kept",
  "conversation_facts_summed",
  "end_reason_sums",
  "end_user_exports",
  "engine_callbacks",
  "function_facts_kept",
  "function_facts_summed",
  "idempotency_keys",
  "live_facts",
  "passages",
  "sms_threads",
]);

/** Facts of a conversation move from one table to the others when jobs measure and add them up, at some moments of this test. */
const MOVING = [
  ["live_facts", "conversation_facts_kept", "conversation_facts_summed", "end_reason_sums"],
  ["function_facts_kept", "function_facts_summed"],
];
const isCovered = (table: string) =>
  [table, ...MOVING.filter((tables) => tables.includes(table)).flat()].some(
    (name) => before[name] !== undefined,
  );

const TEXTUAL = `
  select c.table_name as table, string_agg(c.column_name, ' ' order by c.column_name) as columns
  from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
  where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
    and c.data_type in ('text', 'character varying', 'json', 'jsonb', 'ARRAY', 'bytea', 'tsvector', 'USER-DEFINED')
  group by 1 order by 1`;

describe("before a person is erased", () => {
  test("every table has data of them, or is known to have none", async () => {
    const rows = await running.database.query<{ table: string; columns: string }>(TEXTUAL);
    const unmarked = rows
      .filter(({ table }) => !isCovered(table) && !AUDIT.test(table) && table !== HOMES)
      .map(({ table, columns }) => [table, columns.split(" ").filter((name) => !isConfigured(table, name))])
      .map(([table, columns]) => [table, (columns as string[]).join(" ")] as const);
    expect(Object.fromEntries(unmarked)).toEqual(UNTOUCHED);
  });

  test("their export contains the data of every table, or the table is known to be a copy", async () => {
    const { nodes } = (await running.api.gql("{ endUserExports(first: 4) { nodes { id } } }")).endUserExports;
    const archives = await Promise.all(nodes.map(({ id }: { id: string }) => archiveOf(running, id)));
    const marks = [MARK, PHONE, ...chats];
    const told = (table: string) =>
      archives.some((files) =>
        EXPORTED[table]?.some((path) => marks.some((mark) => files[path]!.includes(mark))),
      );
    const tables = Object.keys(before).filter(
      (table) => !/^graphile_worker\./.test(table) && !AUDIT.test(table),
    );
    expect(tables.filter((table) => !COPIES.has(table) && !told(table))).toEqual([]);
    const paths = archives.flatMap((files) => Object.keys(files));
    expect(paths.filter((path) => path.startsWith("files/"))).not.toEqual([]);
  });

  test("jobs and files contain their words too", async () => {
    expect(Object.keys(before).some((table) => table.startsWith("graphile_worker."))).toBe(true);
    expect((await filesWith(running, [MARK])).length).toBeGreaterThan(0);
  });
});

describe("after a person was erased", () => {
  beforeAll(async () => {
    const receipts: Record<string, unknown>[] = [];
    for (const [kind, value] of Object.entries(IDS)) receipts.push(await forget(running, { [kind]: value }));
    const total = (kind: string) => receipts.reduce((sum, receipt) => sum + Number(receipt[kind]), 0);
    for (const kind of ["chats", "messages", "facts", "contexts", "events", "files", "recordings", "texts"])
      expect([kind, total(kind) > 0]).toEqual([kind, true]);
    await until(() => running.vapi.deleted.length > 0);
  });

  test("no table contains a word, name or number of them", async () => {
    expect(await tablesWith(running, [MARK, PHONE])).toEqual({});
  });

  test("no table of the service refers to their conversations", async () => {
    await allCounted();
    const left = Object.keys(await tablesWith(running, chats));
    expect(left.filter((table) => !/^graphile_worker\./.test(table) && !AUDIT.test(table))).toEqual([]);
  });

  test("no file contains a word of them", async () => {
    expect(await filesWith(running, [MARK, PHONE])).toEqual([]);
  });

  test("the voice engine keeps nothing of their calls", () => {
    expect(running.vapi.calls.filter(({ name }) => chats.includes(name!))).toEqual([]);
  });
});
