import { beforeAll, beforeEach, expect, jest, test } from "@jest/globals";
import { enforceRetention } from "../../src/privacy/retention/enforce";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";

const running = useApp({ WORKER: "off", RETENTION_NOTICE_DAYS: "0" });
const TABLES = ["chats", "messages", "events", "sms_sent"];

let api: Api;
let organizationId: string;
beforeAll(async () => {
  const { query } = running.database;
  await query("create table deletions (what text, number int)");
  await query(`create function note_deletion() returns trigger language plpgsql security definer as $$
    begin insert into deletions select tg_table_name, count(*) from gone having count(*) > 0; return null; end $$`);
  for (const table of TABLES)
    await query(`create trigger note_deletion after delete on ${table} referencing old table as gone
      for each statement execute function note_deletion()`);
});
beforeEach(async () => {
  ({ api, organizationId } = await running.otherOrganization());
  await running.database.query("truncate deletions");
});

/** Stores rows. @param text the id of the organization is `$1` */
const store = (text: string) => running.database.query(text, [organizationId]);
const RETENTION =
  "mutation ($input: UpdateRetentionInput!) { updateRetention(input: $input) { logsDays eventsDays } }";

/** Deletes what is older than these days. @returns the number of rests, and of rows that each statement deleted, by table */
async function enforce(days: { readonly logsDays?: number; readonly eventsDays?: number }) {
  await api.gql(RETENTION, { input: days });
  const { signal } = new AbortController();
  const waits = jest.spyOn(signal, "addEventListener"); // a rest ends with the server
  await enforceRetention(running.app.database, signal);
  const rows = await running.database.query<{ what: string; number: number }>("select * from deletions");
  const deleted = (table: string) =>
    rows
      .filter(({ what }) => what === table)
      .map(({ number }) => number)
      .sort((a, b) => b - a);
  return { rests: waits.mock.calls.length, deleted };
}

test("logs are deleted by 20, their messages by 2,000 and their events by 500, with a rest after 100 logs", async () => {
  const assistantId = await newAssistant(api);
  await store(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, started_at, ended_at)
     select $1, 'log-' || n, '${assistantId}', 'TEXT', 'ended', '', now() - interval '40 days' + n * interval '1 second',
       now() - interval '39 days' from generate_series(1, 110) n`,
  );
  await store(
    `insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content)
     select $1, 'message-' || n, 'log-110', '${assistantId}', n, 'USER', 'TEXT', 'Hello' from generate_series(1, 4500) n`,
  );
  await store(
    `insert into events (organization_id, id, name, type, assistant_id, chat_id, body)
     select $1, 'event-' || n, 'session-start', 'TEXT', '${assistantId}', 'log-110', '{}' from generate_series(1, 1200) n`,
  );
  const { rests, deleted } = await enforce({ logsDays: 30 });
  expect(deleted("chats")).toEqual([20, 20, 20, 20, 20, 10]);
  expect(deleted("messages")).toEqual([2_000, 2_000, 500]);
  expect(deleted("events")).toEqual([500, 500, 200]);
  expect(rests).toBe(1);
});

test("texts are deleted by 500, with a rest after each statement", async () => {
  await store(
    `insert into sms_sent (organization_id, id, via, body, created_at)
     select $1, 'text-' || n, 'API', 'Hello', now() - interval '40 days' from generate_series(1, 1200) n`,
  );
  const { rests, deleted } = await enforce({ logsDays: 30 });
  expect(deleted("sms_sent")).toEqual([500, 500, 200]);
  expect(rests).toBe(2);
});

test("events are deleted by 500, with a rest after 5,000", async () => {
  await store(
    `insert into events (organization_id, id, name, type, assistant_id, body, created_at)
     select $1, 'event-' || lpad(n::text, 5, '0'), 'session-start', 'TEXT', 'a', '{}', now() - interval '40 days'
     from generate_series(1, 5200) n`,
  );
  const { rests, deleted } = await enforce({ eventsDays: 30 });
  expect(deleted("events")).toEqual([...Array<number>(10).fill(500), 200]);
  expect(rests).toBe(1);
});
