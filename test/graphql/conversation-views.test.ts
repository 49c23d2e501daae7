import { beforeAll, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat } from "../support/factories";
import { buildWorld, type World } from "../support/world";

const running = useApp();
let world: World;
beforeAll(async () => {
  world = await buildWorld(running.api);
});

const LOG = "id type recordingUrl messages metadata customerMetadata createdAt lengthSeconds";
const CHAT = "id channel status label startedAt endedAt metadata messages(last: 5) { id content }";

test("an ended conversation is the same from its chat, its log and the lists of logs", async () => {
  const { assistantId, logId: id } = world;
  const { chat, log, assistant, logs } = await running.api.gql(
    `query ($assistantId: ID!, $id: ID!) {
      chat(id: $id) { ${CHAT} log { ${LOG} } }
      log(assistantId: $assistantId, id: $id) { ${LOG} chat { ${CHAT} } }
      assistant(id: $assistantId) { logs(take: 5) { id chat { ${CHAT} } } }
      logs(first: 5, filter: { assistantId: $assistantId }) { nodes { id chat { ${CHAT} } } } }`,
    { assistantId, id },
  );
  const { log: ofChat, ...plainChat } = chat;
  const { chat: ofLog, ...plainLog } = log;
  expect(plainLog.messages.items.map(({ content }: { content: string }) => content)).toContain("We are.");
  expect([ofChat, ofLog]).toEqual([plainLog, plainChat]);
  for (const entries of [assistant.logs, logs.nodes])
    expect(entries.find((entry: { id: string }) => entry.id === id)).toEqual({ id, chat: plainChat });
});

test("a live conversation has no log yet, and an ended call has", async () => {
  const query =
    "query ($chatId: ID!, $callId: ID!) { chat(id: $chatId) { log { id } } call(id: $callId) { log { id metadata } chat { id log { id } } } }";
  const { chatId, callId } = world;
  const before = await running.api.gql(query, { chatId, callId });
  expect(before).toEqual({ chat: { log: null }, call: { log: null, chat: { id: callId, log: null } } });
  await running.api.gql("mutation ($id: ID!) { cancelCall(id: $id) { status } }", { id: callId });
  await endChat(running.api, chatId);
  const { chat, call } = await running.api.gql(query, { chatId, callId });
  expect(chat.log).toEqual({ id: chatId });
  expect(call.log).toMatchObject({ id: callId, metadata: { status: "ended", endedReason: "cancelled" } });
  expect(call.chat.log).toEqual({ id: callId });
});

test("a log within a list costs as much as its messages", async () => {
  const cost = async (fields: string) => {
    const { body } = await running.api.graphql(`{ logs(first: 10) { nodes { chat { id ${fields} } } } }`);
    return body.extensions.cost.requested as number;
  };
  expect((await cost("log { messages }")) - (await cost(""))).toBe(10 * 40);
});
