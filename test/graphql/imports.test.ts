import { beforeAll, describe, expect, test } from "@jest/globals";
import { sweepFiles } from "../../src/assistants/files/janitor";
import { missingFiles } from "../../src/assistants/files/missing-files";
import { chatEvents } from "../../src/chats/chats/chat-events";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { quietAssistant, newChat, say, UNKNOWN_ID } from "../support/factories";
import { importerOf } from "../support/importers";
import { waitingJobs } from "../support/jobs";

const running = useApp({ OUTBOUND_ALLOW: "127.0.0.0/8" });
let importer: Api;
beforeAll(async () => {
  importer = await importerOf(running.api);
});

const ASSISTANT =
  "mutation ($input: ImportAssistantInput!) { importAssistant(input: $input) { id createdAt updatedAt } }";
const KEY =
  "mutation ($input: ImportKeyInput!) { importKey(input: $input) { id value status type createdAt } }";
const DESTINATION =
  "mutation ($input: ImportWebhookDestinationInput!) { importWebhookDestination(input: $input) { id url secret createdAt updatedAt } }";
const LOGS =
  "mutation ($assistantId: ID!, $logs: [ImportLogInput!]!) { importLogs(assistantId: $assistantId, logs: $logs) { imported existing } }";
const FILE =
  "mutation ($file: Upload!, $input: ImportFileInput!) { importFile(file: $file, input: $input) { id name size createdAt } }";

const importAssistant = async (input: object) => (await importer.gql(ASSISTANT, { input })).importAssistant;
const importLogs = async (assistantId: string, ...logs: object[]) =>
  (await importer.gql(LOGS, { assistantId, logs })).importLogs;
async function importFile(input: object, content: string) {
  const form = new FormData();
  form.set("operations", JSON.stringify({ query: FILE, variables: { file: null, input } }));
  form.set("map", JSON.stringify({ 0: ["variables.file"] }));
  form.set("0", new Blob([content], { type: "text/plain" }), "notes.txt");
  const { body } = await importer.request("POST", "/graphql", form, { "Apollo-Require-Preflight": "true" });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return body.data.importFile;
}

/** Ids of other services, of every form. */
const IDS = [
  "42",
  "clx3k9q0e0000",
  "asst_Ab9/x?y#z%20",
  "a.voice",
  "../../etc/passwd",
  "\u00e9t\u00e9 \u{1f600} \u05d0",
  "x".repeat(255),
];
const path = (id: string) => encodeURIComponent(id);

describe("an import needs a key that names the permission", () => {
  test("which a key without limits lacks", async () => {
    const { message, extensions } = await running.api.gqlError(ASSISTANT, { input: { id: "1", name: "A" } });
    expect(extensions.code).toBe("FORBIDDEN");
    expect(message).toContain('lacks the permission "import", which only the command line grants');
    expect(message).toContain(
      "npm run --silent key:create -- --permissions read,write,calls,keys,webhooks --import",
    );
  });

  test("which no token of such a key has", async () => {
    const { token } = await importer.post("/rest/v1/organization/token", {}, 200);
    const bearer = running.api.as({ Authorization: `Bearer ${token}` });
    expect((await bearer.gqlError(ASSISTANT, { input: { id: "1", name: "A" } })).extensions.code).toBe(
      "UNAUTHENTICATED",
    );
  });
});

describe("an imported assistant", () => {
  test.each(IDS)("keeps its id on both interfaces: %s", async (id) => {
    await importAssistant({
      id,
      name: "Old",
      description: "of another service",
      variables: { city: "Bern" },
    });
    expect(await running.api.get(`/rest/v1/assistants/${path(id)}`, 200)).toEqual({
      ...{ id, name: "Old", description: "of another service", template: false },
      variables: { city: "Bern" },
    });
    await running.api.patch(`/rest/v1/assistants/${path(id)}/chat`, { prompt: `changed ${id}` }, 200);
    const { assistant } = await running.api.gql(
      "query ($id: ID!) { assistant(id: $id) { id chat { prompt } } }",
      {
        id,
      },
    );
    expect(assistant).toEqual({ id, chat: { prompt: `changed ${id}` } });
    const { node } = await running.api.gql("query ($id: ID!) { node(id: $id) { id __typename } }", { id });
    expect(node).toEqual({ id, __typename: "Assistant" });
  });

  test("gets the given fields of its four configurations, and defaults for the others", async () => {
    const functions = [{ name: "lookUp", parameters: { type: "object" } }];
    await importAssistant({
      id: "configured",
      name: "A",
      voice: { prompt: "Speak.", voice: "nova", functions },
      sms: { keywords: "help" },
      chat: { temperature: 0 },
      chatRag: { isRagEnabled: true, ragTriggerTopics: "prices" },
      theme: { theme: { title: "Hi" }, mode: "CHAT_ONLY" },
    });
    const at = (kind: string) => running.api.get(`/rest/v1/assistants/configured/${kind}`, 200);
    expect(await at("voice")).toMatchObject({ prompt: "Speak.", voice: "nova", functions, temperature: 0.7 });
    expect(await at("sms")).toMatchObject({ keywords: "help", smsMode: true });
    expect(await at("chat")).toMatchObject({
      temperature: 0,
      isRagEnabled: true,
      ragTriggerTopics: "prices",
    });
    expect(await at("theme")).toEqual({ theme: { title: "Hi" }, mode: "CHAT_ONLY" });
  });

  test("that is imported again is changed only if the source has changed", async () => {
    const input = { id: "again", name: "A", variables: { a: { b: [1] } }, chat: { prompt: "One." } };
    const first = await importAssistant({ ...input, createdAt: "2023-01-02T03:04:05Z" });
    expect(first).toEqual({
      ...{ id: "again", createdAt: "2023-01-02T03:04:05.000Z", updatedAt: "2023-01-02T03:04:05.000Z" },
    });
    expect(await importAssistant(input)).toEqual(first);
    const changed = await importAssistant({ ...input, name: "B", chat: { prompt: "Two." } });
    expect(changed.createdAt).toBe(first.createdAt);
    expect(changed.updatedAt).not.toBe(first.updatedAt);
    expect(await running.api.get("/rest/v1/assistants/again/chat", 200)).toMatchObject({ prompt: "Two." });
  });

  test("that was deleted here comes back", async () => {
    await importAssistant({ id: "back", name: "A" });
    await running.api.delete("/rest/v1/assistants/back", 200);
    await importAssistant({ id: "back", name: "A" });
    expect((await running.api.get("/rest/v1/assistants/back", 200)).name).toBe("A");
  });

  test("cannot replace a template", async () => {
    const { data } = await running.api.get("/rest/v1/assistants/templates", 200);
    const error = await importer.gqlError(ASSISTANT, { input: { id: data[0].id, name: "A" } });
    expect(error.extensions.code).toBe("TEMPLATE_READ_ONLY");
  });
});

describe("an imported key", () => {
  const VALUE = "00e1c5a7-old-service-key";

  test("is accepted by its value, and listed by its id", async () => {
    const input = { id: "key/1", value: VALUE, type: "SECRET", createdAt: "2022-01-01T00:00:00Z" };
    const { importKey } = await importer.gql(KEY, { input });
    expect(importKey).toEqual({
      ...{
        id: "key/1",
        value: VALUE,
        status: "ACTIVE",
        type: "SECRET",
        createdAt: "2022-01-01T00:00:00.000Z",
      },
    });
    const old = running.api.as({ "X-API-Key": VALUE });
    expect(await old.get(`/rest/v1/organization/keys/${path("key/1")}`, 200)).toMatchObject({ value: VALUE });
    expect((await importer.gql(KEY, { input })).importKey).toEqual(importKey);
  });

  test("without limits is seen by the key that imports, and by no other key with limits", async () => {
    const { key } = await importer.gql('{ key(id: "key/1") { value } }');
    expect(key.value).toBe(VALUE);
    for (const list of ["keys { id }", "keysConnection { nodes { id } }"])
      expect(JSON.stringify(await importer.gql(`{ ${list} }`))).toContain("key/1");
    const body = { permissions: ["read", "write", "calls", "keys", "webhooks"] };
    const { value } = await running.api.post("/rest/v1/organization/keys", body, 200);
    const limited = running.api.as({ "X-API-Key": value });
    expect((await limited.gqlError('{ key(id: "key/1") { value } }')).extensions.code).toBe("KEY_NOT_FOUND");
  });

  test("with the id of another organization's key acts for its own organization", async () => {
    const theirs = await running.otherOrganization();
    const { organization } = await theirs.api.gql("{ organization { id } }");
    const { keys } = await theirs.api.gql("{ keys { id value } }");
    const { id } = keys.find(({ value }: { value: string }) => value === theirs.secretKey);
    const other = await importer.gql("{ organization { id } }");
    await importer.gql(KEY, { input: { id, value: `${VALUE}-same` } });
    const imported = running.api.as({ "X-API-Key": `${VALUE}-same` });
    for (let round = 0; round < 2; round++) {
      expect(await imported.gql("{ organization { id } }")).toEqual(other);
      expect(await theirs.api.gql("{ organization { id } }")).toEqual({ organization });
    }
    await importer.gql(KEY, { input: { id, value: `${VALUE}-same`, status: "INACTIVE" } });
    await imported.get("/rest/v1/assistants", 401);
    await theirs.api.get("/rest/v1/assistants", 200);
  });

  test("becomes inactive with the source, but never active again", async () => {
    const input = { id: "key/2", value: `${VALUE}-2` };
    await importer.gql(KEY, { input });
    await importer.gql(KEY, { input: { ...input, status: "INACTIVE" } });
    await running.api.as({ "X-API-Key": input.value }).get("/rest/v1/assistants", 401);
    const { importKey } = await importer.gql(KEY, { input: { ...input, status: "ACTIVE" } });
    expect(importKey.status).toBe("INACTIVE");
    await running.api.as({ "X-API-Key": input.value }).get("/rest/v1/assistants", 401);
  });

  test.each([
    ["another id", { id: "key/4", value: `${VALUE}-3` }],
    ["another value", { id: "key/3", value: `${VALUE}-4` }],
  ])("is refused if the key exists with %s", async (_, input) => {
    await importer.gql(KEY, { input: { id: "key/3", value: `${VALUE}-3` } });
    expect((await importer.gqlError(KEY, { input })).extensions.code).toBe("CONFLICT");
  });

  test("is refused if another organization has its value", async () => {
    const { secretKey } = await running.otherOrganization();
    const error = await importer.gqlError(KEY, { input: { id: "theirs", value: secretKey } });
    expect(error).toMatchObject({
      message: "Another key of this server has this value already.",
      extensions: { code: "CONFLICT" },
    });
  });

  test.each([
    ["short", "value", { value: "short" }],
    ["with a space", "value", { value: "no header holds this\n" }],
    ["that may import", "permissions", { value: `${VALUE}-5`, permissions: ["import"] }],
  ])("is refused %s", async (_, field, fields) => {
    const { message, extensions } = await importer.gqlError(KEY, { input: { id: "bad", ...fields } });
    expect(extensions.code).toBe("BAD_USER_INPUT");
    expect(message).toContain(field);
  });
});

test("an imported webhook destination keeps its id, secret and times, and is stored once", async () => {
  const input = { id: "hook 1", url: "https://example.com/hook", secret: "old secret", name: null };
  const first = await importer.gql(DESTINATION, { input: { ...input, createdAt: "2022-01-01T00:00:00Z" } });
  expect(first.importWebhookDestination).toMatchObject({
    ...{ id: "hook 1", secret: "old secret", createdAt: "2022-01-01T00:00:00.000Z" },
  });
  expect(await importer.gql(DESTINATION, { input })).toEqual(first);
  await importer.gql(DESTINATION, { input: { ...input, url: "https://example.com/other" } });
  const listed = await running.api.get("/rest/v1/settings", 201);
  expect(listed.filter(({ id }: { id: string }) => id === "hook 1")).toMatchObject([
    { url: "https://example.com/other" },
  ]);
});

test("imported webhook destinations whose ids end alike get their own deliveries of an event", async () => {
  const ids = ["shop-webhooks-main", "test-webhooks-main"];
  const events = ["session-start"];
  for (const id of ids) {
    const input = { id, url: `https://example.com/${id}`, secret: "old secret", events };
    await importer.gql(DESTINATION, { input });
  }
  const chatId = await newChat(running.api, await quietAssistant(running.api));
  const found = await Promise.all(
    ids.map((id) =>
      running.api.gql(
        "query ($id: ID!) { webhookDestination(id: $id) { deliveries(first: 9) { nodes { id event { chatId } } } } }",
        { id },
      ),
    ),
  );
  const [one, other] = found.map(({ webhookDestination }) => webhookDestination.deliveries.nodes);
  for (const own of [one, other]) expect(own).toEqual([{ id: expect.any(String), event: { chatId } }]);
  expect(one[0].id).not.toBe(other[0].id);
});

describe("an imported file", () => {
  test.each(IDS)("keeps its id and content: %s", async (id) => {
    const input = { id, metadata: { from: "elsewhere" }, createdAt: "2022-01-01T00:00:00Z" };
    const stored = await importFile(input, `content of ${id}`);
    expect(stored).toMatchObject({ id, name: "notes.txt", createdAt: "2022-01-01T00:00:00.000Z" });
    expect(await importFile(input, "another content")).toEqual(stored);
    const { url } = await running.api.get(`/rest/v1/files/${path(id)}/download`, 200);
    const content = await fetch(new URL(new URL(url).pathname + new URL(url).search, running.url));
    expect([content.status, await content.text()]).toEqual([200, `content of ${id}`]);
  });

  test("is stored once, whole, when several imports have its id at the same time", async () => {
    const contents = ["a", "b", "a"].map((letter) => letter.repeat(3_000_000));
    const [first, ...others] = await Promise.all(
      contents.map((content) => importFile({ id: "at once" }, content)),
    );
    for (const other of others) expect(other).toEqual(first);
    const { url } = await running.api.get(`/rest/v1/files/${path("at once")}/download`, 200);
    const { pathname, search } = new URL(url);
    const content = await (await fetch(running.url + pathname + search)).text();
    expect(contents.includes(content)).toBe(true);
  });

  test("is found by the checks of stored files, which remove only content without a record", async () => {
    for (const id of IDS) await importFile({ id }, `content of ${id}`);
    await importFile({ id: "gone/later" }, "gone");
    await running.database.query("delete from files where id = 'gone/later'");
    const { database } = running.app;
    const { storage } = database.scope("").ports;
    const count = async () => {
      let found = 0;
      for await (const _ of storage.list()) found++;
      return found;
    };
    const before = await count();
    await sweepFiles(database, storage, Date.now() + 2 * 3_600_000);
    expect(await count()).toBe(before - 1);
    expect(await missingFiles(database, storage)).toMatchObject({ missing: 0 });
  });

  test("is removed by its id, with its content", async () => {
    await importFile({ id: "A/b" }, "upper");
    await importFile({ id: "a/b" }, "lower");
    await running.api.delete(`/rest/v1/files/${path("A/b")}`, 200);
    await running.api.get(`/rest/v1/files/${path("A/b")}/download`, 404);
    const { url } = await running.api.get(`/rest/v1/files/${path("a/b")}/download`, 200);
    const { pathname, search } = new URL(url);
    expect(await (await fetch(running.url + pathname + search)).text()).toBe("lower");
  });
});

describe("imported logs", () => {
  const messages = [
    { role: "ASSISTANT", content: "Hello.", createdAt: "2024-05-01T12:00:01Z" },
    { role: "USER", content: "Where is my parcel?", createdAt: "2024-05-01T12:00:02Z", metadata: { n: 1 } },
    { role: "TOOL", content: "{}", toolCallId: "t", createdAt: "2024-05-01T12:00:03Z" },
  ];
  const log = (id: string, more: object = {}) => ({
    ...{ id, type: "TEXT", createdAt: "2024-05-01T12:00:00Z", messages, ...more },
  });
  let assistantId: string;
  beforeAll(async () => {
    assistantId = await quietAssistant(running.api);
  });

  test("are read as those of this service, with their ids and times", async () => {
    const metadata = { source: "shop" };
    expect(await importLogs(assistantId, log("log/1", { metadata, userId: "ada" }))).toEqual({
      ...{ imported: 1, existing: [] },
    });
    const logs = await running.api.get(`/rest/v1/assistants/${assistantId}/logs`, 200);
    expect(logs).toEqual([
      { id: "log/1", type: "TEXT", label: "Where is my parcel?", createdAt: "2024-05-01T12:00:00.000Z" },
    ]);
    const read = await running.api.get(`/rest/v1/assistants/${assistantId}/log/${path("log/1")}`, 200);
    expect(read).toMatchObject({
      customerMetadata: { source: "shop", userId: "ada" },
      metadata: {
        status: "ended",
        endedAt: "2024-05-01T12:00:03.000Z",
        endedReason: "imported",
        messageCount: 3,
      },
    });
    expect(read.messages.items).toMatchObject(
      messages.map((message) => ({ ...message, createdAt: expect.any(String) })),
    );
  });

  test("that exist stay as they are", async () => {
    const own = await newChat(running.api, assistantId);
    await say(running.api, own, "still live");
    const result = await importLogs(assistantId, log(own, { messages: [] }), log("log/2"), log("log/2"));
    expect(result).toEqual({ imported: 1, existing: [own] });
    const { chat } = await running.api.gql(
      "query ($id: ID!) { chat(id: $id) { status messages { content } } }",
      {
        id: own,
      },
    );
    expect(chat).toEqual({ status: "in-progress", messages: [{ content: "still live" }] });
  });

  test("that another assistant has are refused, and so is an end before the start", async () => {
    const other = await quietAssistant(running.api);
    await importLogs(other, log("log/other"));
    for (const [given, code, text] of [
      [log("log/other"), "CONFLICT", `The assistant ${other} has a log with id log/other.`],
      [log("log/early", { endedAt: "2024-05-01T11:59:59Z" }), "BAD_USER_INPUT", "logs.1.endedAt"],
    ] as const) {
      const logs = [log("log/with"), given];
      const { message, extensions } = await importer.gqlError(LOGS, { assistantId, logs });
      expect([extensions.code, message]).toEqual([code, expect.stringContaining(text)]);
    }
    await running.api.get(`/rest/v1/assistants/${assistantId}/log/${path("log/with")}`, 404);
  });

  test("may number the messages of each log from 1", async () => {
    const numbered = messages.map((message, index) => ({ ...message, id: String(index + 1) }));
    await importLogs(assistantId, log("log/3", { messages: numbered }), log("log/4", { messages: numbered }));
    for (const id of ["log/3", "log/4"]) {
      const read = await running.api.get(`/rest/v1/assistants/${assistantId}/log/${path(id)}`, 200);
      expect(read.messages.items).toHaveLength(3);
    }
  });

  test("are paged by their ids, found by their words and counted in statistics", async () => {
    const id = await quietAssistant(running.api);
    const many = Array.from({ length: 7 }, (_, index) => log(`page/${index}`));
    await importLogs(id, ...many);
    const PAGE = `query ($id: ID!, $after: String) {
      logs(first: 3, after: $after, filter: { assistantId: $id }, orderBy: OLDEST_FIRST) {
        nodes { id } pageInfo { endCursor hasNextPage } } }`;
    const seen: string[] = [];
    for (let after: string | null = null; ;) {
      const { logs } = await running.api.gql(PAGE, { id, after });
      seen.push(...logs.nodes.map((node: { id: string }) => node.id));
      if (!logs.pageInfo.hasNextPage) break;
      after = logs.pageInfo.endCursor;
    }
    expect(seen).toEqual(many.map((one) => one.id));
    const found = await running.api.get(`/rest/v1/assistants/${id}/logs?search=PARCEL`, 200);
    expect(found).toHaveLength(7);
    const FIGURES = `query ($id: ID!) { analytics(input: { assistantId: $id,
      from: "2024-05-01T00:00:00Z", to: "2024-05-02T00:00:00Z" }) { totals { conversations } } }`;
    expect((await running.api.gql(FIGURES, { id })).analytics.totals.conversations).toBe(7);
  });

  test("cause no event, and no answer to their last question", async () => {
    await importLogs(assistantId, log("silent", { messages: messages.slice(0, 2) }));
    const { events } = await running.api.gql('{ events(filter: { chatId: "silent" }) { nodes { id } } }');
    expect(events.nodes).toEqual([]);
    expect(await waitingJobs(running.database, undefined, { chatId: "silent" })).toEqual([]);
  });

  test("with the id of another organization's conversation get nothing of it", async () => {
    const theirs = await running.otherOrganization();
    const chatId = await newChat(theirs.api, await quietAssistant(theirs.api));
    await importLogs(assistantId, log(chatId));
    const { organization } = await running.api.gql("{ organization { id } }");
    const told = {
      organizationId: theirs.organizationId,
      chatId,
      text: "Hello",
      activity: "thinking",
      begins: "",
    };
    const listener = {
      on: (_channel: string, hear: (ids: Record<string, string>) => void) => (hear(told), () => undefined),
      onRenewed: () => () => undefined,
    };
    const fresh = () => running.app.database.scope(organization.id as string);
    const names: string[] = [];
    for await (const { name } of await chatEvents(fresh, listener, { chatId, withActivity: true }))
      names.push(name);
    expect(names).toEqual([]);
  });

  test("of a person are erased with the person", async () => {
    await importLogs(
      assistantId,
      log("hers", { type: "VOICE", phoneNumber: "+41445550199", userId: "grace" }),
    );
    const { endUser } = await running.api.gql(
      '{ endUser(uniqueId: "grace") { uniqueId chats { nodes { id } } } }',
    );
    expect(endUser.chats.nodes).toEqual([{ id: "hers" }]);
  });

  test("need an assistant, and name a wrong value by its path", async () => {
    const unknown = { assistantId: UNKNOWN_ID, logs: [log("log/5")] };
    expect((await importer.gqlError(LOGS, unknown)).extensions.code).toBe("ASSISTANT_NOT_FOUND");
    const wrong = { assistantId, logs: [log("log/6"), log("")] };
    expect((await importer.gqlError(LOGS, wrong)).message).toContain("logs.1.id");
    const long = { assistantId, logs: [log("log/7", { phoneNumber: "1".repeat(256) })] };
    expect((await importer.gqlError(LOGS, long)).message).toContain("logs.0.phoneNumber");
  });
});
