import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { afterTest } from "../support/server";
import { newAssistant, newChat } from "../support/factories";
import { stubModel, type Reply } from "../support/stub-model";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" });
const SET = `mutation ($input: ModelMappingInput!) { setModelMapping(input: $input) { model name provider baseUrl keyHint } }`;
const CREDENTIAL = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`;
const TEST = `mutation ($input: TestModelInput!) { testModel(input: $input) { provider name connected text error durationMs } }`;
const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { content } }`;
const WARNINGS = `query ($id: ID!) { assistant(id: $id) { configurationWarnings { channel path code } } }`;

async function serverWith(...replies: Reply[]) {
  const model = await stubModel(...replies);
  afterTest(model.stop);
  return model;
}
const map = async (input: object) => (await running.api.gql(SET, { input })).setModelMapping;
const tested = async (model: string) => (await running.api.gql(TEST, { input: { model } })).testModel;

async function talking(model: string) {
  const { api } = running;
  const id = await newAssistant(api);
  await api.patch(`/rest/v1/assistants/${id}/chat`, { model, initialMessage: "" }, 200);
  const chatId = await newChat(api, id);
  const input = {
    aiChatId: chatId,
    role: "USER",
    channel: "TEXT",
    content: "When do you open?",
    metadata: {},
  };
  return { id, ask: async () => (await api.gql(POST, { input })).postMessage.content as string };
}

afterEach(async () => {
  const { modelMappings } = await running.api.gql("{ modelMappings { model } }");
  for (const { model } of modelMappings as { model: string }[]) await map({ model });
});

describe("a mapping of a model identifier", () => {
  beforeEach(() => running.api.gql(CREDENTIAL, { input: { provider: "OPENAI" } }));

  test("sends its conversations to the server, by its model name and key, from the next answer on", async () => {
    const server = await serverWith({ text: ["At nine."] });
    const { ask } = await talking("MIXTRAL");
    expect(await ask()).not.toBe("At nine.");
    const mapping = { model: "MIXTRAL", name: "llama3.2", baseUrl: server.url };
    expect(await map({ ...mapping, apiKey: "sk-own-4321" })).toEqual({
      ...mapping,
      provider: null,
      keyHint: "…4321",
    });
    expect(await ask()).toBe("At nine.");
    expect(server.asked.map(({ model }) => model)).toEqual(["llama3.2"]);
    expect(server.keys).toEqual(["Bearer sk-own-4321"]);
    const rows = await running.database.query("select model_mappings::text as row from model_mappings");
    expect(JSON.stringify(rows)).not.toContain("sk-own");
    expect(await map({ model: "MIXTRAL" })).toBeNull();
    expect(await ask()).not.toBe("At nine.");
    expect(server.asked).toHaveLength(1);
  });

  test("can name another provider, which is asked with its own credential", async () => {
    const server = await serverWith({ text: ["At ten."] });
    await running.api.gql(CREDENTIAL, {
      input: { provider: "OPENAI", apiKey: "sk-openai-1", baseUrl: server.url },
    });
    await map({ model: "LLAMA_3_70B", name: "gpt-new", provider: "OPENAI" });
    const { ask } = await talking("LLAMA_3_70B");
    expect(await ask()).toBe("At ten.");
    expect(server.asked.map(({ model }) => model)).toEqual(["gpt-new"]);
    expect(server.keys).toEqual(["Bearer sk-openai-1"]);
  });

  test("ends the warning that the model of the identifier has been succeeded", async () => {
    const { id } = await talking("MIXTRAL");
    const codes = async () =>
      (await running.api.gql(WARNINGS, { id })).assistant.configurationWarnings.map(
        ({ code }: { code: string }) => code,
      );
    expect(await codes()).toContain("MODEL_SUCCEEDED");
    await map({ model: "MIXTRAL", name: "mine", provider: "OPENAI" });
    expect(await codes()).not.toContain("MODEL_SUCCEEDED");
  });

  test.each([
    ["neither provider nor address", { name: "x" }, "input.provider"],
    [
      "both provider and address",
      { name: "x", provider: "GROQ", baseUrl: "https://example.com" },
      "input.provider",
    ],
    ["an address without a model name", { baseUrl: "https://example.com" }, "input.name"],
    ["a private address", { name: "x", baseUrl: "http://10.0.0.7/v1" }, "input.baseUrl"],
    ["another scheme", { name: "x", baseUrl: "ftp://example.com" }, "input.baseUrl"],
  ])("is refused with %s", async (_what, input, field) => {
    const error = await running.api.gqlError(SET, { input: { model: "MIXTRAL", ...input } });
    expect(JSON.stringify(error)).toContain("BAD_USER_INPUT");
    expect(JSON.stringify(error)).toContain(field);
  });
});

describe("testModel", () => {
  beforeEach(() => running.api.gql(CREDENTIAL, { input: { provider: "OPENAI" } }));

  test("returns the model's text and the time it took", async () => {
    const server = await serverWith({ text: ["Hello ", "there."] });
    await map({ model: "GPT_4_O", name: "llama3.2", baseUrl: server.url });
    expect(await tested("GPT_4_O")).toEqual({
      provider: new URL(server.url).host,
      name: "llama3.2",
      connected: true,
      text: "Hello there.",
      error: null,
      durationMs: expect.any(Number),
    });
  });

  test("returns the provider's error", async () => {
    const error = { message: "Incorrect API key provided", code: "invalid_api_key" };
    const server = await serverWith({ status: 401, error });
    await map({ model: "GPT_4_O", name: "llama3.2", baseUrl: server.url });
    const { text, error: told } = await tested("GPT_4_O");
    expect(text).toBeNull();
    expect(told).toContain("Incorrect API key provided");
    expect(server.asked).toHaveLength(1);
  });

  test("says that no model is connected", async () => {
    const { connected, text, error } = await tested("GPT_4_O");
    expect({ connected, text }).toEqual({ connected: false, text: null });
    expect(error).toContain("setModelMapping");
  });
});
