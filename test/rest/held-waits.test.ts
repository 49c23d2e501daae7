import { expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newChat, quietAssistant } from "../support/factories";

const running = useApp({ WORKER: "off" });

test("a message to a held installation is stored at once, with a warning instead of a wait for the answer", async () => {
  const { api, database } = running;
  const aiChatId = await newChat(api, await quietAssistant(api));
  await database.query(
    "insert into holds (id, reason, note, finished_at) values ('hold', 'RESTORED', 'a backup', now())",
  );
  const message = { aiChatId, role: "USER", channel: "TEXT", content: "Anybody there?", metadata: {} };
  const { status, body, headers } = await api.request(
    "POST",
    "/rest/v1/ai-chats/messages?wait=true",
    message,
  );
  expect([status, body.content, body.reply]).toEqual([201, "Anybody there?", undefined]);
  expect(headers.get("warning")).toContain("is held");
  const chat = await api.get(`/rest/v1/ai-chats/${aiChatId}`, 200);
  expect(chat.messages.map(({ content }: { content: string }) => content)).toContain("Anybody there?");
});
