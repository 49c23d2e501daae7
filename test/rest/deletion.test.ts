import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, quietAssistant, newChat, say } from "../support/factories";

const running = useApp();
const PATH = "/rest/v1/assistants";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("deleting an assistant", () => {
  const CHAT = `query ($id: ID!) { chat(id: $id) { status endedReason endedAt assistant { id name } messages { content } } }`;

  test("ends its live chats and does not change ended ones", async () => {
    const { api } = running;
    const id = await quietAssistant(api);
    const [over, ...live] = [await newChat(api, id), await newChat(api, id), await newChat(api, id)];
    await endChat(api, over!, "said-goodbye");
    await api.delete(`${PATH}/${id}`, 200);
    for (const chat of live)
      expect((await api.gql(CHAT, { id: chat })).chat).toMatchObject({
        status: "ended",
        endedReason: "assistant-deleted",
        endedAt: expect.stringMatching(TIME),
      });
    expect((await api.gql(CHAT, { id: over })).chat.endedReason).toBe("said-goodbye");
  });

  test("keeps its messages readable through GraphQL, while REST returns 404 for the assistant", async () => {
    const { api } = running;
    const id = await quietAssistant(api, { name: "Remembered" });
    const chat = await newChat(api, id, { userId: "u1" });
    await say(api, chat, "Hello");
    await api.delete(`${PATH}/${id}`, 200);
    expect((await api.gql(CHAT, { id: chat })).chat).toMatchObject({
      assistant: { id, name: "Remembered" },
      messages: [{ content: "Hello" }],
    });
    const log = `query ($a: ID!, $id: ID!) { log(assistantId: $a, id: $id) { id messages } }`;
    expect((await api.gql(log, { a: id, id: chat })).log.messages.items).toMatchObject([
      { content: "Hello" },
    ]);
    for (const tail of ["", "/logs", `/log/${chat}`, "/voice"])
      expect((await api.get(`${PATH}/${id}${tail}`, 400)).code).toBe("ASSISTANT_NOT_FOUND");
    expect((await api.delete(`${PATH}/${id}`, 400)).code).toBe("ASSISTANT_NOT_FOUND");
    expect((await api.patch(`${PATH}/${id}/chat`, { prompt: "x" }, 400)).code).toBe("ASSISTANT_NOT_FOUND");
  });

  test("leaves no live chat, even of those being started at the same time", async () => {
    const { api } = running;
    const start = "mutation ($id: ID!) { startChat(input: { assistantId: $id }) { id } }";
    for (let round = 0; round < 10; round++) {
      const id = await quietAssistant(api);
      const starts = Array.from({ length: 8 }, () => api.graphql(start, { id }));
      await Promise.all([...starts, api.delete(`${PATH}/${id}`, 200)]);
      const live = await running.database.query(
        "select id from chats where assistant_id = $1 and status <> 'ended'",
        [id],
      );
      expect(live).toEqual([]);
    }
  });
});
