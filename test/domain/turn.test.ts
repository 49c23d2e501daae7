import { describe, expect, test } from "@jest/globals";
import { Messages } from "../../src/chats/chats/messages";
import { useApp } from "../support/app";

const running = useApp({ WORKER: "on" });

const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { id role content metadata sequence } }`;
const START = `mutation ($input: StartChatInput!) { startChat(input: $input) { id messages { role content } } }`;

async function chatWith(chat: object, assistant: object = {}) {
  const { api } = running;
  const { id } = await api.post("/rest/v1/assistants", { name: "Ada", ...assistant }, 200);
  await api.patch(`/rest/v1/assistants/${id}/chat`, chat, 200);
  const { startChat } = await api.gql(START, { input: { assistantId: id } });
  return { assistantId: id as string, chatId: startChat.id as string, messages: startChat.messages };
}

const say = async (aiChatId: string, content: string) => {
  const input = { aiChatId, role: "USER", channel: "TEXT", content, metadata: {} };
  return (await running.api.gql(POST, { input })).postMessage;
};

describe("a turn without any model", () => {
  test("starts with the greeting, with its variables filled in", async () => {
    const { messages } = await chatWith(
      { initialMessage: "This is {company}, {who}?" },
      { variables: { company: "Acme" } },
    );
    expect(messages).toEqual([{ role: "ASSISTANT", content: "This is Acme, {who}?" }]);
  });

  test("answers with the passage found, and is marked as local", async () => {
    const resources = "We are open Monday to Friday, 8 am to 6 pm.\n\nParking is free behind the house.";
    const { chatId } = await chatWith({ resources });
    expect(await say(chatId, "Where can I park my car, is there parking?")).toMatchObject({
      role: "ASSISTANT",
      content: "Parking is free behind the house.",
      metadata: {
        local: true,
        citations: [{ source: "resources", text: "Parking is free behind the house." }],
      },
    });
  });

  test("uses database connections of its own, so that requests can get theirs", async () => {
    const { chatId } = await chatWith({ resources: "Parking is free." });
    await say(chatId, "Is parking free?");
    const names = await running.database.query<{ name: string }>(
      `select distinct application_name as name from pg_stat_activity
       where datname = current_database() and application_name like 'parley%' order by 1`,
    );
    expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(["parley", "parley jobs"]));
  });

  test("says that it does not know", async () => {
    const { chatId } = await chatWith({ resources: "", prompt: "Be kind." });
    expect((await say(chatId, "What is the capital of France?")).content).toContain("I don't know");
  });

  test("stores no answer to a question that was answered meanwhile", async () => {
    const { chatId } = await chatWith({ resources: "Parking is free." });
    await say(chatId, "Is parking free?");
    const organizationId = (await running.app.database.defaultOrganizationId())!;
    const late = {
      aiChatId: chatId,
      role: "ASSISTANT",
      channel: "TEXT",
      content: "Too late.",
      metadata: {},
    } as const;
    const messages = running.app.database.scope(organizationId).of(Messages);
    expect(await messages.postIfLive({ ...late, answers: { since: 0, upTo: 1 } })).toBeUndefined();
    const stored = "select 1 from messages where chat_id = $1 and content = 'Too late.'";
    expect(await running.database.query(stored, [chatId])).toEqual([]);
  });

  test("suggests up to three questions about known topics if enabled", async () => {
    const resources = [
      "We are open Monday to Friday, 8 am to 6 pm. On Sunday we are closed.",
      "Parking is free behind the house.",
      "Parking for bicycles lies in front of the house, under the roof that was built in the spring of last year.",
      "Dogs are welcome!",
    ].join("\n\n");
    const { chatId } = await chatWith({ resources, quickRepliesEnabled: true });
    const { content, metadata } = await say(chatId, "Is there parking for my car?");
    expect(content).toBe("Parking is free behind the house.");
    expect(metadata.citations).toMatchObject([{ text: content }]);
    expect(metadata.quickReplies).toEqual([
      "Parking for bicycles lies in front of the house, under the …?",
      "We are open Monday to Friday, 8 am to 6 pm?",
      "Dogs are welcome?",
    ]);
    const again = await say(chatId, metadata.quickReplies[2]);
    expect(again.content).toBe("Dogs are welcome!");
  });

  test("suggests nothing if disabled or nothing is known", async () => {
    const off = await chatWith({ resources: "Parking is free.\n\nDogs are welcome." });
    expect((await say(off.chatId, "Parking?")).metadata).not.toHaveProperty("quickReplies");
    const empty = await chatWith({ resources: "", prompt: "Be kind.", quickRepliesEnabled: true });
    expect((await say(empty.chatId, "Parking?")).metadata).not.toHaveProperty("quickReplies");
  });

  test("is counted if the assistant did not know the answer or a function failed", async () => {
    const functions = [{ name: "book", parameters: { type: "object", properties: {} } }];
    const { assistantId, chatId } = await chatWith({ resources: "Parking is free.", functions });
    await say(chatId, "Is parking free?");
    await say(chatId, "What is the capital of France?");
    await say(chatId, "call:book {}");
    const COUNTS = `query ($input: AnalyticsInput!) { analytics(input: $input) {
      totals { questions notKnown answerTimes { count } } functions { name calls succeeded failed } } }`;
    const { analytics } = await running.api.gql(COUNTS, { input: { assistantId } });
    expect(analytics).toEqual({
      totals: { questions: 3, notKnown: 1, answerTimes: { count: 3 } },
      functions: [{ name: "book", calls: 1, succeeded: 0, failed: 1 }],
    });
    const { chat } = await running.api.gql(
      "query ($chatId: ID!) { chat(id: $chatId) { messages { role metadata } } }",
      { chatId },
    );
    const told = chat.messages.filter(({ role }: { role: string }) => role === "TOOL");
    expect(told).toMatchObject([{ metadata: { failed: true } }]);
  });
});
