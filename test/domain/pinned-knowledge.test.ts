import { afterEach, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { useApp } from "../support/app";
import { someoneWaits } from "../support/database";
import { newAssistant, newChat, UNKNOWN_ID } from "../support/factories";
import { upload } from "../support/files";
import { importerOf } from "../support/importers";
import { Receiver } from "../support/receiver";
import { stubModel, type Reply } from "../support/stub-model";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const ATTACH = `mutation ($assistantId: ID!, $fileId: ID!) { attachFile(assistantId: $assistantId, fileId: $fileId) { id } }`;
const DETACH = `mutation ($assistantId: ID!, $fileId: ID!) { detachFile(assistantId: $assistantId, fileId: $fileId) { id } }`;
const FILES = `query ($id: ID!) { assistant(id: $id) { version { number } files { id status passages } } }`;
const RAG = `mutation ($id: ID!, $input: UpdateRagSettingsInput!) { updateRagSettings(assistantId: $id, channel: TEXT, input: $input) { id } }`;
const SAVE = `mutation ($id: ID!, $input: AssistantDraftInput!) { saveAssistantDraft(assistantId: $id, input: $input) { basedOn } }`;
const RESTORE = `mutation ($id: ID!, $number: Int!) { restoreAssistantVersion(assistantId: $id, number: $number) { version { number } } }`;
const IMPORT = `mutation ($input: ImportAssistantInput!) { importAssistant(input: $input) { id } }`;
const IMPORT_VERSIONS = `mutation ($id: ID!, $versions: [ImportAssistantVersionInput!]!) { importAssistantVersions(assistantId: $id, versions: $versions) { imported } }`;
const PARKING = "Parking is free behind the house.";
const DOGS = "Dogs are welcome in every room.";

const stateOf = async (id: string) => (await running.api.gql(FILES, { id })).assistant;
const attach = (assistantId: string, fileId: string) => running.api.gql(ATTACH, { assistantId, fileId });
const detach = (assistantId: string, fileId: string) => running.api.gql(DETACH, { assistantId, fileId });
const newFile = async (content: string): Promise<string> => (await upload(running.api, { content })).id;
const passagesOf = async (fileId: string): Promise<number> =>
  (await running.database.query("select from passages where file_id = $1", [fileId])).length;
const indexed = (fileId: string) => until(async () => (await passagesOf(fileId)) > 0);

async function asks(...replies: Reply[]) {
  const model = await stubModel(...replies);
  stops.push(model.stop);
  const set = "mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }";
  await running.api.gql(set, { input: { provider: "OPENAI", apiKey: "sk-stub", baseUrl: model.url } });
  return model;
}

/** An assistant that looks everything up, with files of these texts. */
async function knowing(...texts: string[]) {
  const { api } = running;
  const id = await newAssistant(api);
  await api.patch(`/rest/v1/assistants/${id}/chat`, { initialMessage: "", resources: "" }, 200);
  await api.gql(RAG, { id, input: { isRagEnabled: true, forceRag: true } });
  const fileIds: string[] = [];
  for (const text of texts) {
    const fileId = await newFile(text);
    await attach(id, fileId);
    await indexed(fileId);
    fileIds.push(fileId);
  }
  return { id, fileIds };
}

/** The texts that the answer to a question cites. */
async function cited(aiChatId: string, content: string): Promise<string[]> {
  const body = { aiChatId, role: "USER", channel: "TEXT", content, metadata: {} };
  const { reply } = await running.api.post("/rest/v1/ai-chats/messages?wait=true", body, 201);
  return (reply.metadata.citations ?? []).map(({ text }: { text: string }) => text);
}

describe("the knowledge of a version", () => {
  test("stays with its conversations while files are detached and attached, and with no other", async () => {
    const model = await asks({ text: ["Fine."] });
    const { id, fileIds } = await knowing(PARKING);
    const { number } = (await stateOf(id)).version;
    const before = await newChat(running.api, id);
    await detach(id, fileIds[0]!);
    const dogs = await newFile(DOGS);
    await attach(id, dogs);
    await indexed(dogs);
    const after = await newChat(running.api, id);
    const pinned = await newChat(running.api, id, { assistantVersion: number });
    const question = "Is there parking, and are dogs welcome?";
    expect(await cited(before, question)).toEqual([PARKING]);
    expect(await cited(after, question)).toEqual([DOGS]);
    expect(await cited(pinned, question)).toEqual([PARKING]);
    expect(model.asked).toHaveLength(3);
    expect((await stateOf(id)).files).toMatchObject([{ id: dogs }]);

    await running.api.gql(RESTORE, { id, number });
    expect((await stateOf(id)).files).toEqual([{ id: fileIds[0], status: "READY", passages: 1 }]);
    expect(await cited(after, question)).toEqual([DOGS]);
    expect(await cited(await newChat(running.api, id), question)).toEqual([PARKING]);
  });

  test("is that of its version also for a search that the model begins after a change", async () => {
    const { id, fileIds } = await knowing(PARKING);
    const receiver = await new Receiver((res) => {
      void detach(id, fileIds[0]!).then(() => res.end('"done"'));
    }).start();
    stops.push(() => receiver.stop());
    await asks(
      { call: "wait", arguments: "{}" },
      { call: "search_knowledge", arguments: '{"query":"parking"}' },
      { text: ["Fine."] },
    );
    await running.api.gql(RAG, { id, input: { forceRag: false } });
    const functions = [{ name: "wait", serverUrl: receiver.url }];
    await running.api.patch(`/rest/v1/assistants/${id}/chat`, { functions }, 200);
    const chatId = await newChat(running.api, id);
    expect(await cited(chatId, "Is there parking?")).toEqual([PARKING]);
    expect((await stateOf(id)).files).toEqual([]);
  });

  test("is that of its version also for a search that begins before a change and ends after it", async () => {
    await asks({ text: ["Fine."] });
    const { id, fileIds } = await knowing(PARKING);
    const chatId = await newChat(running.api, id);
    const holder = new pg.Client({ connectionString: running.database.ownerUrl });
    await holder.connect();
    stops.push(() => holder.end());
    await holder.query("begin; lock table passages in access exclusive mode");
    const citing = cited(chatId, "Is there parking?");
    await until(() => someoneWaits(running.database, "%passages%"));
    await detach(id, fileIds[0]!);
    await holder.query("commit");
    expect(await citing).toEqual([PARKING]);
    expect((await stateOf(id)).files).toEqual([]);
  });

  test("loses a deleted file at once", async () => {
    await asks({ text: ["Fine."] });
    const { id, fileIds } = await knowing(PARKING);
    const chatId = await newChat(running.api, id);
    await detach(id, fileIds[0]!);
    expect(await cited(chatId, "Is there parking?")).toEqual([PARKING]);
    await running.api.delete(`/rest/v1/files/${fileIds[0]}`, 200);
    expect(await cited(chatId, "Is there parking?")).toEqual([]);
    expect(await passagesOf(fileIds[0]!)).toBe(0);
  });

  test("goes with the assistant, except what another one has", async () => {
    const { id, fileIds } = await knowing(PARKING, DOGS);
    const other = await newAssistant(running.api);
    await attach(other, fileIds[0]!);
    await detach(other, fileIds[0]!);
    for (const fileId of fileIds) await detach(id, fileId);
    await running.api.delete(`/rest/v1/assistants/${id}`, 200);
    expect(await passagesOf(fileIds[0]!)).toBe(1);
    expect(await passagesOf(fileIds[1]!)).toBe(0);
    await running.api.delete(`/rest/v1/assistants/${other}`, 200);
    expect(await passagesOf(fileIds[0]!)).toBe(0);
  });

  test("contains a file that was detached while it was being read", async () => {
    await asks({ text: ["Fine."] });
    const { id } = await knowing();
    const fileId = await newFile(PARKING);
    await attach(id, fileId);
    const chatId = await newChat(running.api, id);
    await detach(id, fileId);
    await indexed(fileId);
    expect(await cited(chatId, "Is there parking?")).toEqual([PARKING]);
  });

  test("is imported with it, also if only an earlier version has the file", async () => {
    await asks({ text: ["Fine."] });
    const importer = await importerOf(running.api);
    const fileId = await newFile(PARKING);
    const made = { actor: "operator", createdAt: "2025-01-01T00:00:00.000Z" };
    const chat = { initialMessage: "", resources: "" };
    const chatRag = { isRagEnabled: true, forceRag: true };
    const input = { id: "moved", name: "Moved", chat, chatRag, fileIds: [], version: { ...made, number: 2 } };
    await importer.gql(IMPORT, { input });
    const versions = [{ ...made, number: 1, document: { chat, fileIds: [fileId, UNKNOWN_ID] } }];
    await importer.gql(IMPORT_VERSIONS, { id: "moved", versions });
    await indexed(fileId);
    const pinned = await newChat(running.api, "moved", { assistantVersion: 1 });
    expect(await cited(pinned, "Is there parking?")).toEqual([PARKING]);
    expect(await cited(await newChat(running.api, "moved"), "Is there parking?")).toEqual([]);
  });

  test("comes back with a deleted assistant that an import brings back", async () => {
    await asks({ text: ["Fine."] });
    const importer = await importerOf(running.api);
    const { id, fileIds } = await knowing(PARKING);
    const { number } = (await stateOf(id)).version;
    await detach(id, fileIds[0]!);
    await running.api.delete(`/rest/v1/assistants/${id}`, 200);
    expect(await passagesOf(fileIds[0]!)).toBe(0);
    await importer.gql(IMPORT, { input: { id, name: "Back" } });
    await indexed(fileIds[0]!);
    const pinned = await newChat(running.api, id, { assistantVersion: number });
    expect(await cited(pinned, "Is there parking?")).toEqual([PARKING]);
  });

  test("is that of the draft in a chat with it, also for files that no version has had", async () => {
    await asks({ text: ["Fine."] });
    const { id } = await knowing(PARKING);
    const dogs = await newFile(DOGS);
    await running.api.gql(SAVE, { id, input: { fileIds: [dogs], chat: { resources: "Cats are welcome." } } });
    await indexed(dogs);
    const chatId = await newChat(running.api, id, { draft: true });
    await running.api.gql(SAVE, { id, input: { fileIds: [], chat: { resources: "" } } });
    const question = "Is there parking? Are dogs and cats welcome?";
    expect((await cited(chatId, question)).sort()).toEqual(["Cats are welcome.", DOGS]);
    expect(await cited(await newChat(running.api, id), question)).toEqual([PARKING]);
  });
});
