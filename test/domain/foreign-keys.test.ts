import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createDatabase, type TestDatabase } from "../support/database";

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database.drop());

test("the deletion of a row finds the rows that refer to it by an index", async () => {
  const found = await database.query<{ key: string }>(`
    select conrelid::regclass || ' → ' || confrelid::regclass as key from pg_constraint c
    where contype = 'f' and not exists (
      select from pg_index i where i.indrelid = c.conrelid
        and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$')
        and (i.indkey::smallint[])[0:array_length(c.conkey, 1) - 1] <@ c.conkey)
    order by 1`);
  expect(found.map(({ key }) => key)).toEqual([]);
});

test("the texts of a conversation or a message are found among many", async () => {
  await database.query(`insert into organizations (id, name) values ('o', 'O')`);
  await database.query(`insert into assistants (organization_id, id, name) values ('o', 'a', 'Ada')`);
  await database.query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id)
     select 'o', 'c' || n, 'a', 'SMS', 'ended', 'none' from generate_series(1, 2000) n`,
  );
  await database.query(
    `insert into sms_sent (organization_id, id, via, body, chat_id, message_id)
     select 'o', 's' || n, 'API', 'Hello', 'c' || n, 'm' || n from generate_series(1, 2000) n`,
  );
  await database.query("analyze sms_sent");
  const planOf = async (condition: string) =>
    JSON.stringify(
      await database.query(`explain select id from sms_sent where organization_id = 'o' and ${condition}`),
    );
  expect(await planOf("chat_id in ('c1', 'c2')")).toContain("sms_sent_of_chat");
  expect(await planOf("message_id = 'm1'")).toContain("sms_sent_of_message");
});
