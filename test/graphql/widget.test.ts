import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { startSession, VisitorClient } from "../support/visitor";

const running = useApp({ WORKER: "on" });
const open: VisitorClient[] = [];
afterEach(async () => {
  for (const visitor of open.splice(0)) await visitor.close();
});

async function visitorOf(input: object): Promise<VisitorClient> {
  const visitor = await VisitorClient.of(running.url, running.publicKey, input);
  open.push(visitor);
  return visitor;
}

describe("a visitor of a web page", () => {
  test("talks with the assistant, and sees the answer as it comes", async () => {
    const assistantId = await newAssistant(running.api);
    const session = await startSession(running.url, running.publicKey, { assistantId });
    expect(session.widget).toMatchObject({
      assistantId,
      name: "Ada",
      mode: "VOICE_AND_CHAT",
      greeting: "Hello! How can I help you today?",
      textEnabled: true,
      voiceEnabled: true,
      engineVoice: false,
    });
    const visitor = await visitorOf({ assistantId });
    const chat = await visitor.start();
    expect(chat).toMatchObject({ channel: "TEXT", status: "in-progress", endedReason: null });
    expect(chat.messages).toEqual([
      expect.objectContaining({ role: "ASSISTANT", content: session.widget.greeting }),
    ]);
    const answered = visitor.events(chat.id, chat.messages[0]!.id, (events) =>
      events.some(({ message }) => message?.role === "ASSISTANT"),
    );
    const posted = await visitor.post(chat.id, "Are you open?", "m1");
    expect(posted).toMatchObject({ role: "USER", content: "Are you open?", clientId: "m1", failed: false });
    const events = await answered;
    expect(new Set(events.map(({ name }) => name))).toEqual(new Set(["message", "activity", "token"]));
    const [answer] = (await visitor.chat(chat.id, posted.id)).messages;
    expect(events.at(-1)!.message).toEqual(answer);
    expect(await visitor.end(chat.id)).toMatchObject({ status: "ended", endedReason: "ended-by-visitor" });
    expect(await visitor.chats()).toMatchObject([{ id: chat.id, label: "Are you open?" }]);
  });

  test("talks by the browser's own speech", async () => {
    const visitor = await visitorOf({ assistantId: await newAssistant(running.api) });
    const chat = await visitor.start({ channel: "VOICE" });
    const answered = visitor.events(chat.id, chat.messages[0]!.id, (events) =>
      events.some(({ message }) => message?.role === "ASSISTANT"),
    );
    await visitor.post(chat.id, "Are you open?");
    await answered;
    await visitor.end(chat.id);
  });
});
