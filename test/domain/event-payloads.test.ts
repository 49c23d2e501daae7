import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { until } from "../support/until";
import { talk } from "../support/talk";

const running = useApp({ WORKER: "on" });
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface Payload {
  readonly event: string;
  readonly type: string;
  readonly companionId: string;
  readonly data: Record<string, unknown> & { messages?: { role: string; content?: string }[] };
}

/** The events of a chat, in order. */
async function told(chatId: string): Promise<Payload[]> {
  const document =
    "query ($chatId: ID!) { events(first: 100, filter: { chatId: $chatId }) { nodes { payload } } }";
  const { nodes } = (await running.api.gql(document, { chatId })).events as { nodes: { payload: Payload }[] };
  return nodes.map(({ payload }) => payload).toReversed();
}

describe("the events of a chat", () => {
  test("have exactly the documented fields, with the phone number if there is one", async () => {
    const companionId = await quietAssistant(running.api);
    const chatId = await newChat(running.api, companionId, { channel: "SMS", userId: "Grace" });
    await running.database.query("update chats set phone_number = '+12025550100' where id = $1", [chatId]);
    await say(running.api, chatId, "Hello");
    await endChat(running.api, chatId, "done");
    const head = { type: "SMS", companionId };
    const messages = [{ role: "bot", content: "Hello" }];
    const phoneNumber = "+12025550100";
    const over = { startedAt: TIME, endedAt: TIME, endedReason: "done" };
    expect(await told(chatId)).toEqual([
      { event: "session-start", ...head, data: { startedAt: TIME, userId: "Grace" } },
      {
        event: "status-changed",
        ...head,
        data: { messages: [], status: "in-progress", startedAt: TIME },
      },
      { event: "conversation-updated", ...head, data: { messages, phoneNumber, timestamp: TIME } },
      { event: "status-changed", ...head, data: { messages, status: "ended", phoneNumber, ...over } },
      { event: "session-end", ...head, data: { ...over, messageCount: 1 } },
    ]);
  });

  test("contain the whole conversation of bot and user, in order, without other roles", async () => {
    const chatId = await newChat(running.api, await quietAssistant(running.api));
    for (const role of ["ASSISTANT", "SYSTEM", "TOOL", "USER"]) await say(running.api, chatId, role, role);
    const updates = (await told(chatId)).filter(({ event }) => event === "conversation-updated");
    const last = updates.map(({ data }) => data.messages!.map(({ role, content }) => `${role} ${content}`));
    expect(last.slice(0, 4)).toEqual([
      ["bot ASSISTANT"],
      ["bot ASSISTANT"],
      ["bot ASSISTANT"],
      ["bot ASSISTANT", "user USER"],
    ]);
  });

  test("leave out the oldest messages beyond 1 MiB, and never the newest", async () => {
    const chatId = await newChat(running.api, await quietAssistant(running.api));
    const long = (letter: string) => letter.repeat(400_000);
    for (const letter of ["a", "b", "c"]) await say(running.api, chatId, long(letter));
    await say(running.api, chatId, "d".repeat(1_048_576));
    const updates = (await told(chatId)).filter(({ event }) => event === "conversation-updated");
    expect(updates.map(({ data }) => data.messages!.map(({ content }) => content![0]).join(""))).toEqual([
      "a",
      "ab",
      "bc",
      "d",
    ]);
  });

  test("say when the assistant listens, thinks and speaks, around its answer", async () => {
    const { model, chatId, say: ask } = await talk(running, [{ text: ["Fine."] }]);
    stops.push(model.stop);
    await ask("How are you?");
    const names = await until(async () => {
      const names = (await told(chatId)).map(({ event, data }) =>
        event === "interaction-status" ? String(data.status) : event,
      );
      return names.at(-1) === "listening" && names;
    });
    const turn = ["conversation-updated", "thinking", "speaking", "conversation-updated", "listening"];
    expect(names).toEqual(["session-start", "status-changed", ...turn]);
  });
});

describe("quick replies of a model", () => {
  test.each([
    ['Sure: ["Yes", "No", "Maybe", "Never"]', ["Yes", "No", "Maybe"]],
    ['["Yes", 5, " "]', ["Yes"]],
    ["I would say yes.", undefined],
    ["[yes]", undefined],
  ])("are up to three of its suggestions: %s", async (suggestion, quickReplies) => {
    const replies = [{ text: ["Shall I?"] }, { text: [suggestion] }];
    const { model, say: ask } = await talk(running, replies, {
      configuration: { quickRepliesEnabled: true },
    });
    stops.push(model.stop);
    const answer = await ask("Hello");
    expect(answer.content).toBe("Shall I?");
    expect(answer.metadata.quickReplies).toEqual(quickReplies);
    expect(model.asked).toHaveLength(2);
  });

  test("are empty if the model fails to suggest any, and the answer is stored", async () => {
    const replies = [{ text: ["Shall I?"] }, { status: 500 }];
    const { model, say: ask } = await talk(running, replies, {
      configuration: { quickRepliesEnabled: true },
    });
    stops.push(model.stop);
    const answer = await ask("Hello");
    expect(answer.content).toBe("Shall I?");
    expect(answer.metadata).not.toHaveProperty("quickReplies");
  });
});
