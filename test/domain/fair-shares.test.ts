import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { newAssistant, newChat, say } from "../support/factories";
import { until } from "../support/server";
import { stubModel } from "../support/stub-model";

const running = useApp({ WORKER: "on" });
const CREDENTIAL = `mutation ($baseUrl: String!) {
  setModelCredential(input: { provider: OPENAI, apiKey: "key", baseUrl: $baseUrl }) { provider } }`;

/** A model that takes questions and answers none of them. */
async function hangingModel() {
  const open = new Set<ServerResponse>();
  const server = createServer((req, res) => {
    open.add(res);
    req.resume();
    res.on("close", () => open.delete(res));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    open,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let hanging: Awaited<ReturnType<typeof hangingModel>>;
let model: Awaited<ReturnType<typeof stubModel>>;
beforeAll(async () => {
  hanging = await hangingModel();
  model = await stubModel({ text: ["Here I am."] });
});
afterAll(async () => {
  await hanging.stop();
  await model.stop();
});

const talking = async (api: Api, url: string, chats: number) => {
  await api.gql(CREDENTIAL, { baseUrl: url });
  const assistantId = await newAssistant(api);
  await api.patch(`/rest/v1/assistants/${assistantId}/chat`, { initialMessage: "" }, 200);
  return Promise.all(Array.from({ length: chats }, () => newChat(api, assistantId)));
};
const MESSAGES = "query ($id: ID!) { chat(id: $id) { messages(last: 5) { role content } } }";
const answered = async (api: Api, id: string) => {
  const { chat } = (await api.gql(MESSAGES, { id })) as { chat: { messages: { content: string }[] } };
  return chat.messages.some(({ content }) => content === "Here I am.");
};

describe("turns are shared fairly between organizations", () => {
  test.each([1, 2])(
    "with %i whose models hang, another's turn is taken",
    async (count) => {
      for (let made = 0; made < count; made++) {
        const { api } = await running.otherOrganization();
        const before = hanging.open.size;
        const chats = await talking(api, hanging.url, 100);
        await Promise.all(chats.map((chat) => say(api, chat, "Hello?", "USER")));
        await until(() => hanging.open.size > before);
      }
      const { api } = await running.otherOrganization();
      const [chat] = await talking(api, model.url, 1);
      await say(api, chat!, "Are you there?", "USER");
      await until(() => answered(api, chat!));
      expect(hanging.open.size).toBeGreaterThan(0);
    },
    120_000,
  );
});
