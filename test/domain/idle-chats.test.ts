import { expect, test } from "@jest/globals";
import { endIdleChats } from "../../src/worker/idle-chats";
import { useApp } from "../support/app";
import { callOf, NUMBER, place } from "../support/calls";
import { newChat, quietAssistant } from "../support/factories";

const running = useApp();

test("a chat without messages for a while ends, as does a call from a page, but not one that an engine holds", async () => {
  const { api, app, database } = running;
  const assistantId = await quietAssistant(api);
  const left = await newChat(api, assistantId);
  const lively = await newChat(api, assistantId);
  const { webCallUrl } = await api.post("/rest/v1/call/web", { assistantId }, 200);
  const page = new URL(webCallUrl as string).searchParams.get("chat")!;
  const phone = await place(api, assistantId, NUMBER.answers);
  await database.query("update chats set status = 'in-progress' where id = $1", [phone]);
  await database.query(
    "update chats set last_message_at = now() - interval '31 minutes', quiet_from = now() - interval '31 minutes' where id <> $1",
    [lively],
  );
  await endIdleChats(app.database, 30);
  const reason = async (id: string) =>
    (await api.gql("query ($id: ID!) { chat(id: $id) { endedReason } }", { id })).chat.endedReason;
  expect(await Promise.all([left, page, lively, phone].map(reason))).toEqual([
    "idle-timeout",
    "idle-timeout",
    null,
    null,
  ]);
  expect((await callOf(api, page)).status).toBe("ended");
});

test("a chat that was quiet and is lively again is looked at later, however many there are", async () => {
  const { api, app, database } = running;
  const assistantId = await quietAssistant(api);
  const first = await newChat(api, assistantId);
  await database.query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, last_message_at, quiet_from)
     select organization_id, 'lively-' || n, assistant_id, 'TEXT', 'in-progress', status_event_id, now() - interval '5 minutes', now() - interval '31 minutes'
     from chats, generate_series(1, 1100) n where id = $1`,
    [first],
  );
  await database.query(
    "update chats set last_message_at = now() - interval '31 minutes', quiet_from = '-infinity' where id = $1",
    [first],
  );
  await endIdleChats(app.database, 30);
  const counts = await database.query(
    `select status, quiet_from = last_message_at as "isSeen", count(*)::int as chats from chats
     where id = $1 or id like 'lively-%' group by 1, 2 order by 1`,
    [first],
  );
  expect(counts).toEqual([
    { status: "ended", isSeen: false, chats: 1 },
    { status: "in-progress", isSeen: true, chats: 1100 },
  ]);
  await database.query("delete from chats where id like 'lively-%'");
});

test("a message changes no column of its chat that has an index, so PostgreSQL adds nothing to the indexes", async () => {
  const changed = ["message_count", "event_count", "last_message_at", "answered_sequence"];
  const found = await running.database.query(
    `select a.attname as column, i.relname as index from pg_depend d
     join pg_class i on i.oid = d.objid and i.relkind = 'i'
     join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where d.refobjid = 'chats'::regclass and a.attname = any($1)`,
    [changed],
  );
  expect(found).toEqual([]);
});
