import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { endChat, newAssistant, newChat, quietAssistant, said, say } from "../support/factories";
import { ASSISTANT, assistantWith, configurationOf, KINDS, namesOf } from "../support/shapes";

const running = useApp();

const INPUTS = {
  voice: ["Voice", { prompt: "Speak.", voice: "nova", functions: [{ b: 1, a: [null] }] }],
  sms: ["Sms", { keywords: "info", voiceCallMode: true }],
  chat: ["Chat", { model: "MIXTRAL", temperature: 1.5 }],
  theme: ["Theme", { theme: { title: "Ask", own: { none: null } } }],
} as const;
const REST = "/rest/v1/assistants";
const FIELDS = namesOf(ASSISTANT).join(" ");

describe("an assistant", () => {
  test("created by REST can be read by GraphQL", async () => {
    const { api } = running;
    const rest = await api.post(REST, { name: "Ada", description: "d", variables: { a: { b: null } } }, 200);
    const { assistant } = await api.gql(`query ($id: ID!) { assistant(id: $id) { ${FIELDS} } }`, rest);
    expect(assistant).toEqual(rest);
  });

  test("created, changed or deleted by GraphQL is the same on REST", async () => {
    const { api } = running;
    const create = `mutation ($input: CreateAssistantInput!) { createAssistant(input: $input) { ${FIELDS} } }`;
    const made = (await api.gql(create, { input: { name: "Bea" } })).createAssistant;
    expect(made).toMatchObject({ description: null, variables: null });
    expect(await api.get(`${REST}/${made.id}`, 200)).toEqual(assistantWith({ id: made.id, name: "Bea" }));
    const update = `mutation ($id: ID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { ${FIELDS} } }`;
    const changed = await api.gql(update, { id: made.id, input: { description: "now" } });
    expect(await api.get(`${REST}/${made.id}`, 200)).toEqual({
      ...changed.updateAssistant,
      variables: undefined,
    });
    const gone = await api.gql("mutation ($id: ID!) { deleteAssistant(id: $id) { id } }", { id: made.id });
    expect(gone.deleteAssistant).toEqual({ id: made.id });
    await api.get(`${REST}/${made.id}`, 400);
  });

  test("is duplicated by GraphQL in the same way as by REST", async () => {
    const { api } = running;
    const id = await newAssistant(api, { name: "Ada", variables: { a: 1 } });
    await api.patch(`${REST}/${id}/chat`, { prompt: "Copied." }, 200);
    const { duplicateAssistant } = await api.gql(
      `mutation ($id: ID!) { duplicateAssistant(id: $id) { ${FIELDS} chat { prompt } } }`,
      { id },
    );
    const { chat, ...copy } = duplicateAssistant;
    expect(chat.prompt).toBe("Copied.");
    expect(await api.get(`${REST}/${copy.id}`, 200)).toEqual({ ...copy, description: undefined });
  });

  test("is on the same page of both lists", async () => {
    const { api } = await running.otherOrganization();
    for (let count = 0; count < 5; count++)
      await newAssistant(api, { name: `No. ${count}`, description: "d" });
    const document = `query { assistants(order: asc, page: 2, take: 2) {
      data { id name description template } meta { page take itemCount pageCount hasPreviousPage hasNextPage } } }`;
    expect((await api.gql(document)).assistants).toEqual(
      await api.get(`${REST}?order=asc&page=2&take=2`, 200),
    );
  });

  test("is found by GraphQL's search in name and description, ignoring case and wildcards", async () => {
    const { api } = await running.otherOrganization();
    for (const [name, description] of [
      ["Sales 100%", "x"],
      ["Support", "For SALES people"],
      ["Other", undefined],
    ])
      await newAssistant(api, { name, description });
    const search = async (text: string) => {
      const document =
        "query ($text: String) { assistants(search: $text, order: asc) { data { name } meta { itemCount } } }";
      const { data, meta } = (await api.gql(document, { text })).assistants as {
        data: { name: string }[];
        meta: { itemCount: number };
      };
      expect(meta.itemCount).toBe(data.length);
      return data.map(({ name }) => name);
    };
    expect(await search("sales")).toEqual(["Sales 100%", "Support"]);
    expect(await search("0%")).toEqual(["Sales 100%"]);
    expect(await search("_")).toEqual([]);
  });

  test("that is a template is the same on both interfaces", async () => {
    const document = `query { assistantTemplates { data { ${FIELDS} } meta { itemCount } } }`;
    const { data } = (await running.api.gql(document)).assistantTemplates;
    expect(data).toEqual((await running.api.get(`${REST}/templates`, 200)).data);
  });
});

describe.each(KINDS)("the %s configuration", (kind) => {
  const [name, input] = INPUTS[kind];
  const fields = namesOf(configurationOf(kind)).join(" ");
  const read = `query ($id: ID!) { assistant(id: $id) { result: ${kind} { ${fields} } } }`;

  test("changed by REST can be read by GraphQL, and vice versa", async () => {
    const { api } = running;
    const id = await newAssistant(api);
    const path = `${REST}/${id}/${kind}`;
    const rest = await api.patch(path, input, 200);
    expect((await api.gql(read, { id })).assistant.result).toEqual(rest);
    const update = `mutation ($id: ID!, $input: Update${name}ConfigurationInput!) {
      result: update${name}Configuration(assistantId: $id, input: $input) { ${fields} } }`;
    const other = await newAssistant(api);
    const { result } = await api.gql(update, { id: other, input });
    expect(result).toEqual(rest);
    expect(await api.get(`${REST}/${other}/${kind}`, 200)).toEqual(rest);
  });
});

describe("a chat and its log", () => {
  test("are the same on both interfaces", async () => {
    const { api } = running;
    const assistantId = await quietAssistant(api);
    const chat = await newChat(api, assistantId, { userId: "u1", metadata: { order: 7 } });
    await say(api, chat, "Hello", "SYSTEM");
    await api.gql("mutation ($input: PostMessageInput!) { postMessage(input: $input) { id } }", {
      input: { ...said(chat, "Good day"), metadata: { tone: "warm" } },
    });
    await endChat(api, chat);
    const fields = "id type recordingUrl messages metadata customerMetadata createdAt";
    const document = `query ($a: ID!, $id: ID!) {
      log(assistantId: $a, id: $id) { ${fields} }
      assistant(id: $a) { log(id: $id) { ${fields} } logs { id type label createdAt } }
      chat(id: $id) { label channel status startedAt messages { id role content metadata createdAt } } }`;
    const { log, assistant, chat: whole } = await api.gql(document, { a: assistantId, id: chat });
    const rest = await api.get(`${REST}/${assistantId}/log/${chat}`, 200);
    expect(log).toEqual(rest);
    expect(assistant.log).toEqual(rest);
    expect(assistant.logs).toEqual(await api.get(`${REST}/${assistantId}/logs`, 200));
    expect(whole).toMatchObject({ label: "u1", channel: "TEXT", status: "ended", startedAt: rest.createdAt });
    expect(rest.messages.items).toMatchObject(whole.messages);
  });

  test("show a message posted by GraphQL like one posted by REST", async () => {
    const { api } = running;
    const id = await newChat(api, await quietAssistant(api));
    const rest = await api.post("/rest/v1/ai-chats/messages", said(id, "by REST"), 201);
    const { aiChatId, ...message } = rest;
    const document =
      "query ($id: ID!) { chat(id: $id) { messages { id chatId role channel content metadata createdAt } } }";
    expect((await api.gql(document, { id })).chat.messages).toEqual([{ ...message, chatId: aiChatId }]);
  });
});

describe("the organization", () => {
  test("has the same keys and tokens on both interfaces", async () => {
    const { api, organizationId } = await running.otherOrganization();
    const made = await api.post("/rest/v1/organization/keys", { type: "PUBLIC" }, 200);
    const document = `query ($id: ID!) { organization { id } keys { id value type status } key(id: $id) { id value type status } publicKey { id value type status } }`;
    const told = await api.gql(document, { id: made.id });
    expect(told).toEqual({
      organization: { id: organizationId },
      keys: await api.get("/rest/v1/organization/keys", 200),
      key: made,
      publicKey: made,
    });
    const create =
      'mutation { createKey(input: {}) { id value type status } issueToken(input: { userId: "u" }) { token } }';
    const { createKey, issueToken } = await api.gql(create);
    expect(await api.get(`/rest/v1/organization/keys/${createKey.id}`, 200)).toEqual(createKey);
    await api.as({ Authorization: `Bearer ${issueToken.token}` }).get(REST, 200);
    const off = "mutation ($id: ID!) { updateKey(id: $id, input: { status: INACTIVE }) { status } }";
    await api.gql(off, { id: createKey.id });
    await api.as({ "X-API-Key": createKey.value }).get(REST, 401);
    await api.gql("mutation ($id: ID!) { deleteKey(id: $id) { id } }", { id: createKey.id });
    await api.get(`/rest/v1/organization/keys/${createKey.id}`, 404);
  });

  test("has the same webhook destinations on both interfaces", async () => {
    const { api } = await running.otherOrganization();
    const fields = "id url name secret createdAt updatedAt";
    const rest = await api.post("/rest/v1/settings", { url: "https://example.com", secret: "s" }, 201);
    expect((await api.gql(`{ webhookDestinations { ${fields} } }`)).webhookDestinations).toEqual([rest]);
    const create = `mutation ($input: CreateWebhookDestinationInput!) { result: createWebhookDestination(input: $input) { ${fields} } }`;
    const { result } = await api.gql(create, {
      input: { url: "https://example.org", secret: "t", name: "n" },
    });
    expect(await api.get("/rest/v1/settings", 201)).toEqual([result, rest]);
    const rename = `mutation ($id: ID!) { result: updateWebhookDestination(id: $id, input: { name: null }) { ${fields} } }`;
    const renamed = (await api.gql(rename, { id: result.id })).result;
    expect(renamed).toMatchObject({ name: null, secret: "t" });
    const remove = `mutation ($id: ID!) { result: deleteWebhookDestination(id: $id) { ${fields} } }`;
    expect((await api.gql(remove, { id: result.id })).result).toEqual(renamed);
    expect(await api.get("/rest/v1/settings", 201)).toEqual([rest]);
  });

  test("has the same files on both interfaces", async () => {
    const { api } = await running.otherOrganization();
    const form = new FormData();
    form.append("file", new Blob(["hello"], { type: "text/plain" }), "greeting.txt");
    form.append("metadata", JSON.stringify({ a: 1 }));
    const rest = await api.post("/rest/v1/files/upload", form, 201);
    const fields = "id name organizationId mimeType size metadata createdAt";
    expect((await api.gql(`{ files { data { ${fields} } } }`)).files.data).toEqual([rest]);
    const { fileDownload } = await api.gql("query ($id: ID!) { fileDownload(id: $id) { url } }", {
      id: rest.id,
    });
    expect(await (await fetch(fileDownload.url)).text()).toBe("hello");
    await api.gql("mutation ($id: ID!) { deleteFile(id: $id) { id } }", { id: rest.id });
    expect((await api.get("/rest/v1/files", 200)).data).toEqual([]);
  });
});
