import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, quietAssistant, newChat, said, say, UNKNOWN_ID } from "../support/factories";

const running = useApp();
const PATH = "/rest/v1/ai-chats/messages";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const chatOf = async (input: object = {}) => newChat(running.api, await quietAssistant(running.api), input);

describe("a message posted to a chat", () => {
  test("returns 201 with the stored message", async () => {
    const aiChatId = await chatOf();
    const body = { ...said(aiChatId, "Hello ü😀\nthere"), metadata: { z: 1, nested: { none: null } } };
    expect(await running.api.post(PATH, body, 201)).toEqual({
      id: expect.any(String),
      ...body,
      createdAt: expect.stringMatching(TIME),
    });
  });

  test.each(["ASSISTANT", "TOOL", "USER", "SYSTEM"])("may have the role %s", async (role) => {
    const aiChatId = await chatOf();
    expect((await running.api.post(PATH, { ...said(aiChatId, "x"), role }, 201)).role).toBe(role);
  });

  test.each(["SMS", "VOICE", "TEXT"])(
    "keeps the channel %s, whatever the channel of the chat",
    async (channel) => {
      const { api } = running;
      const aiChatId = await chatOf({ channel: "SMS" });
      expect((await api.post(PATH, { ...said(aiChatId, "x"), channel }, 201)).channel).toBe(channel);
      const document = "query ($id: ID!) { chat(id: $id) { channel messages { channel } } }";
      const { chat } = await api.gql(document, { id: aiChatId });
      expect([chat.channel, chat.messages[0].channel]).toEqual(["SMS", channel]);
    },
  );

  test.each([[{}], [{ content: null }]])("without content (%j) has none in the response", async (content) => {
    const { content: _, ...body } = said(await chatOf(), "");
    const message = await running.api.post(PATH, { ...body, ...content, role: "ASSISTANT" }, 201);
    expect(message).not.toHaveProperty("content");
  });

  test.each([
    ["aiChatId", { aiChatId: undefined }],
    ["aiChatId", { aiChatId: 5 }],
    ["role", { role: undefined }],
    ["role", { role: "bot" }],
    ["channel", { channel: undefined }],
    ["channel", { channel: "CHAT" }],
    ["content", { content: ["x"] }],
    ["metadata", { metadata: undefined }],
    ["metadata", { metadata: null }],
    ["metadata", { metadata: [] }],
    ["text", { text: "x" }],
  ])("with a wrong %s returns 400: %j", async (path, wrong) => {
    const aiChatId = await chatOf();
    const { details } = await running.api.post(PATH, { ...said(aiChatId, "x"), ...wrong }, 400);
    expect(details).toEqual([{ path, message: expect.any(String) }]);
    expect(
      (await running.api.gql("query ($id: ID!) { chat(id: $id) { messages { id } } }", { id: aiChatId }))
        .chat,
    ).toEqual({ messages: [] });
  });

  test("returns 404 for a chat that is unknown or of another organization", async () => {
    const { api: other } = await running.otherOrganization();
    const theirs = await newChat(other, await quietAssistant(other));
    for (const id of [UNKNOWN_ID, "no chat", theirs]) {
      const { requestId: _, ...refused } = await running.api.post(PATH, said(id, "x"), 404);
      expect(refused).toEqual({
        statusCode: 404,
        error: "Not Found",
        code: "CHAT_NOT_FOUND",
        message: `No chat with id "${id}".`,
        details: [{ path: "aiChatId", message: `No chat with id "${id}".` }],
      });
    }
  });

  test("returns 409 after the chat has ended, and changes nothing", async () => {
    const { api } = running;
    const aiChatId = await chatOf();
    await say(api, aiChatId, "before");
    await endChat(api, aiChatId);
    expect((await api.post(PATH, said(aiChatId, "after"), 409)).code).toBe("CHAT_ENDED");
    const document = "query ($id: ID!) { chat(id: $id) { messages { content sequence } } }";
    expect((await api.gql(document, { id: aiChatId })).chat.messages).toEqual([
      { content: "before", sequence: 1 },
    ]);
  });

  test("has the next sequence, without gaps or duplicates among forty concurrent ones", async () => {
    const { api } = running;
    const aiChatId = await chatOf();
    await Promise.all(Array.from({ length: 40 }, (_, index) => say(api, aiChatId, `No. ${index}`)));
    const document = "query ($id: ID!) { chat(id: $id) { messages { sequence content } } }";
    const { messages } = (await api.gql(document, { id: aiChatId })).chat as {
      messages: { sequence: number; content: string }[];
    };
    expect(messages.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 40 }, (_, index) => index + 1),
    );
    expect(new Set(messages.map(({ content }) => content)).size).toBe(40);
  });
});

describe("a chat", () => {
  const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id channel status } }";
  const CHANNELS: [string, string, string][] = [
    ["TEXT", "chat", "chatMode"],
    ["SMS", "sms", "smsMode"],
  ];

  test.each(CHANNELS)(
    "on %s is rejected with CHANNEL_DISABLED while the %s configuration has %s off",
    async (channel, kind, mode) => {
      const { api } = running;
      const assistantId = await quietAssistant(api);
      const path = `/rest/v1/assistants/${assistantId}/${kind}`;
      await api.patch(path, { [mode]: false }, 200);
      expect((await api.gqlError(START, { input: { assistantId, channel } })).extensions.code).toBe(
        "CHANNEL_DISABLED",
      );
      for (const [another] of CHANNELS.filter(([other]) => other !== channel))
        expect((await api.gql(START, { input: { assistantId, channel: another } })).startChat.channel).toBe(
          another,
        );
      await api.patch(path, { [mode]: true }, 200);
      expect((await api.gql(START, { input: { assistantId, channel } })).startChat).toMatchObject({
        channel,
        status: "in-progress",
      });
    },
  );

  test("cannot be started with an assistant that is unknown, deleted, or of another organization", async () => {
    const { api } = running;
    const { api: other } = await running.otherOrganization();
    const deleted = await quietAssistant(api);
    await api.delete(`/rest/v1/assistants/${deleted}`, 200);
    for (const assistantId of [UNKNOWN_ID, deleted, await quietAssistant(other)])
      expect((await api.gqlError(START, { input: { assistantId } })).extensions.code).toBe(
        "ASSISTANT_NOT_FOUND",
      );
  });

  test("ends once with the given reason, and rejects a second end", async () => {
    const { api } = running;
    const id = await chatOf();
    await endChat(api, id, "changed-my-mind");
    const document = "query ($id: ID!) { chat(id: $id) { status endedReason } }";
    expect((await api.gql(document, { id })).chat).toEqual({
      status: "ended",
      endedReason: "changed-my-mind",
    });
    const again = await api.gqlError("mutation ($id: ID!) { endChat(id: $id) { id } }", { id });
    expect(again.extensions.code).toBe("CHAT_ENDED");
    expect((await api.gql(document, { id })).chat.endedReason).toBe("changed-my-mind");
  });
});
