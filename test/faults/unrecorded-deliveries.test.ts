import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newChat, quietAssistant, say } from "../support/factories";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { until } from "../support/until";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" });
const query = <R extends object>(text: string) =>
  running.database.query<R & { [name: string]: unknown }>(text);

/** Refuses results of deliveries as PostgreSQL does on a full disk. A sequence counts, because a rollback does not undo it. */
const REFUSE = `
  create sequence if not exists refused;
  grant usage on sequence refused to public;
  create or replace function refuse() returns trigger language plpgsql security definer as
    $$ begin perform nextval('public.refused'); raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
  create trigger refuse before update on deliveries for each row when (new.status = 'DELIVERED') execute function refuse()`;
const refusals = async () =>
  Number(
    (await query<{ count: string }>("select last_value * is_called::int as count from refused"))[0]!.count,
  );

test("a result that PostgreSQL refuses for a time is recorded afterwards, and the next deliveries of the chat follow", async () => {
  const receiver = await new Receiver().start();
  afterTest(() => receiver.stop());
  await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
  const chat = await newChat(running.api, await quietAssistant(running.api));
  await receiver.until(2); // of the start of the chat
  await until(async () => (await query("select from deliveries where status = 'PENDING'")).length === 0);
  await query(REFUSE);
  await say(running.api, chat, "first");
  await until(async () => (await refusals()) >= 2);
  await say(running.api, chat, "second");
  await query("drop trigger refuse on deliveries");
  await until(async () => (await query("select from deliveries where status = 'PENDING'")).length === 0);
  const messages = receiver.received.filter(({ body }) => body.event === "conversation-updated");
  expect(messages.map(({ body }) => JSON.stringify(body).match(/"(first|second)"/g))).toEqual([
    ['"first"'],
    ['"first"', '"second"'],
  ]);
});
