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
  await database.query("update chats set last_message_at = now() - interval '31 minutes' where id <> $1", [
    lively,
  ]);
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
