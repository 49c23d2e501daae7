import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { connect } from "../../src/platform/database/connections/connect";
import { hasVectors, prepareVectors } from "../../src/platform/database/upgrades/vectors";
import { Knowledge } from "../../src/assistants/knowledge/knowledge";
import { startApp } from "../support/app";
import { newAssistant, newChat, say } from "../support/factories";
import { upload } from "../support/files";
import { importerOf } from "../support/importers";
import { stubEmbeddings } from "../support/stub-embeddings";
import { stubModel } from "../support/stub-model";
import { drain, vectorDatabase } from "../support/vector-database";
import type { TestDatabase } from "../support/database";

let database: TestDatabase;
let stub: Awaited<ReturnType<typeof stubEmbeddings>>;
let running: Awaited<ReturnType<typeof startApp>>;

/** Files survive a restart too. */
const dataDir = mkdtempSync(join(tmpdir(), "parley-files-"));

/** Restarts the service, by default with the stub for all organizations. */
async function restart(env: Record<string, string> = {}): Promise<void> {
  await running?.stop();
  await database.query("deallocate all"); // the session that all clients share outlives them
  // Row-level security would prepare its statement once for each pool, in the session that they share.
  const all = { EMBEDDING_BASE_URL: stub.url, EMBEDDING_API_KEY: "sk-embed", ROW_LEVEL_SECURITY: "false" };
  running = await startApp(database, { DATABASE_POOL: "1", DATA_DIR: dataDir, ...all, ...env });
}

beforeAll(async () => {
  [database, stub] = await Promise.all([vectorDatabase(), stubEmbeddings()]);
  await restart();
});
afterAll(async () => {
  await running?.stop();
  await stub?.stop();
  await database?.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

const DOGS = "Dogs are welcome in every room.";
const CARS = "Parking is free behind the house.";

/** An assistant with a file of these paragraphs, each with a heading of its own. */
async function knowing(...texts: string[]): Promise<string> {
  const assistantId = await newAssistant(running.api);
  const { id: fileId } = await upload(running.api, { content: texts.join("\n\n# .\n\n") });
  const attach =
    "mutation ($assistantId: ID!, $fileId: ID!) { attachFile(assistantId: $assistantId, fileId: $fileId) { id } }";
  await running.api.gql(attach, { assistantId, fileId });
  await drain(running);
  return assistantId;
}

async function find(question: string, assistantId: string, resources = ""): Promise<string[]> {
  const { id } = await running.api.get("/rest/v1/organization", 200);
  const found = await running.app.database.scope(id).of(Knowledge).find(question, assistantId, { resources });
  return found.map(({ text }) => text.split("\n").at(-1)!);
}

describe("with pgvector and a key", () => {
  test("a question finds passages with the same meaning in other words, best first", async () => {
    const assistantId = await knowing(CARS, DOGS, "Breakfast is at eight.");
    expect(await find("May I bring my hound?", assistantId)).toHaveLength(3);
    expect((await find("May I bring my hound?", assistantId))[0]).toBe(DOGS);
    expect((await find("Where do I leave my vehicle?", assistantId))[0]).toBe(CARS);
    expect(stub.asked.at(-1)).toEqual({
      model: "text-embedding-3-small",
      key: "sk-embed",
      input: ["Where do I leave my vehicle?"],
    });
  });

  test("passages that match by words and meaning come before those that match by one", async () => {
    const assistantId = await knowing(
      "The hound of the Baskervilles.",
      "A puppy costs a fee.",
      "The fee is ten.",
      DOGS,
    );
    expect((await find("Is there a fee for a puppy?", assistantId))[0]).toBe("A puppy costs a fee.");
  });

  test("resources are found by meaning too, in their current version, from the second question on", async () => {
    const assistantId = await newAssistant(running.api);
    const change = (resources: string) =>
      running.api.patch(`/rest/v1/assistants/${assistantId}/chat`, { resources }, 200);
    await change(`${CARS}\n\n${DOGS}`);
    expect(await find("My hound?", assistantId, `${CARS}\n\n${DOGS}`)).toEqual([]);
    await drain(running);
    expect((await find("My hound?", assistantId, `${CARS}\n\n${DOGS}`))[0]).toBe(DOGS);
    await change(CARS);
    expect(await find("My hound?", assistantId, CARS)).toEqual([CARS]);
    await drain(running);
    const kept = "select content from passages where assistant_id = $1";
    expect(await database.query(kept, [assistantId])).toEqual([{ content: CARS }]);
  });

  test("the passages of resources stay as long as a live chat runs their version", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const change = (resources: string) =>
      api.patch(`/rest/v1/assistants/${assistantId}/chat`, { resources }, 200);
    const stored = async () => {
      await find("My hound?", assistantId, CARS); // another text is asked for: a job stores the passages
      await drain(running);
      const texts = "select content from passages where assistant_id = $1 order by content";
      return (await database.query<{ content: string }>(texts, [assistantId])).map(({ content }) => content);
    };
    await change(DOGS);
    const chatId = await newChat(api, assistantId);
    await change(CARS);
    expect(await stored()).toEqual([DOGS, CARS].sort());
    expect(await find("My hound?", assistantId, DOGS)).toEqual([DOGS]);
    await api.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id: chatId });
    await change(`${CARS} Always.`);
    await find("My hound?", assistantId, `${CARS} Always.`);
    expect(await stored()).toEqual([`${CARS} Always.`]);
  });

  test("the passages of a former version that is restored or pinned get vectors again at its first question", async () => {
    const { api } = running;
    const assistantId = await newAssistant(api);
    const change = (resources: string) =>
      api.patch(`/rest/v1/assistants/${assistantId}/chat`, { resources }, 200);
    const isFoundSoon = async (resources: string) => {
      await find("My hound?", assistantId, resources);
      await drain(running);
      expect(await find("My hound?", assistantId, resources)).toEqual([resources]);
    };
    await change(DOGS);
    await isFoundSoon(DOGS);
    await change(CARS);
    await isFoundSoon(CARS);
    const restore =
      "mutation ($id: ID!, $number: Int!) { restoreAssistantVersion(assistantId: $id, number: $number) { version { number } } }";
    await api.gql(restore, { id: assistantId, number: 2 });
    await isFoundSoon(DOGS);
    await newChat(api, assistantId, { assistantVersion: 3 });
    await isFoundSoon(CARS);
    await isFoundSoon(DOGS);
  });

  test("nothing is found of other assistants, other organizations or detached files", async () => {
    await knowing(DOGS);
    const assistantId = await knowing(CARS);
    const other = await running.otherOrganization();
    const theirs = await newAssistant(other.api);
    const { id: fileId } = await upload(other.api, { content: DOGS });
    const change = (name: string) =>
      `mutation ($a: ID!, $f: ID!) { ${name}(assistantId: $a, fileId: $f) { id } }`;
    await other.api.gql(change("attachFile"), { a: theirs, f: fileId });
    await drain(running);
    expect(await find("My hound?", assistantId)).toEqual([CARS]);
    expect(await find("My hound?", theirs)).toEqual([]);
    const { files } = (
      await other.api.gql("query ($id: ID!) { assistant(id: $id) { files { id } } }", { id: theirs })
    ).assistant;
    expect(files).toEqual([{ id: fileId }]);
    await other.api.gql(change("detachFile"), { a: theirs, f: fileId });
    const scope = running.app.database.scope(other.organizationId);
    const found = () => scope.of(Knowledge).find("My hound?", theirs, { resources: "" });
    expect(await found()).toEqual([]);
    await other.api.delete(`/rest/v1/files/${fileId}`, 200);
    const left = "select count(*)::int as count from passage_embeddings where organization_id = $1";
    expect(await database.query(left, [other.organizationId])).toEqual([{ count: 0 }]);
  });

  test("an answer of a model uses the file and cites it", async () => {
    const assistantId = await knowing(CARS, DOGS);
    const model = await stubModel({ text: ["Bring it along."] });
    const rag =
      "mutation ($id: ID!) { updateRagSettings(assistantId: $id, channel: TEXT, input: { isRagEnabled: true, forceRag: true }) { forceRag } }";
    await running.api.gql(rag, { id: assistantId });
    const set = "mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }";
    await running.api.gql(set, { input: { provider: "OPENAI", apiKey: "sk-chat", baseUrl: model.url } });
    const chatId = await newChat(running.api, assistantId);
    await say(running.api, chatId, "May I bring my hound?", "USER");
    await drain(running);
    const { chat } = await running.api.gql(
      "query ($id: ID!) { chat(id: $id) { messages { content metadata } } }",
      { id: chatId },
    );
    expect(chat.messages.at(-1)).toMatchObject({
      content: "Bring it along.",
      metadata: { citations: [{ source: "a.txt", text: expect.stringContaining(DOGS) }, {}] },
    });
    expect(String(model.asked[0]!.messages[0]!.content)).toContain(`[a.txt] .\n${DOGS}`);
    await running.api.gql(set, { input: { provider: "OPENAI" } });
    await model.stop();
  });

  test("files attached before there was a key, or with another model, get vectors at the first question", async () => {
    const assistantId = await knowing(CARS, DOGS);
    await restart({ EMBEDDING_MODEL: "another-model" });
    expect(await find("My hound?", assistantId)).toEqual([]);
    await drain(running);
    expect((await find("My hound?", assistantId))[0]).toBe(DOGS);
    expect(stub.asked.at(-1)!.model).toBe("another-model");
    await restart();
  });
});

test("a file and an assistant with the same id get their vectors beside each other", async () => {
  const id = "both";
  const importer = await importerOf(running.api);
  await importer.gql("mutation ($input: ImportAssistantInput!) { importAssistant(input: $input) { id } }", {
    input: { id, name: "Both", chat: { resources: DOGS } },
  });
  const form = new FormData();
  const query =
    "mutation ($file: Upload!, $input: ImportFileInput!) { importFile(file: $file, input: $input) { id } }";
  form.set("operations", JSON.stringify({ query, variables: { file: null, input: { id } } }));
  form.set("map", JSON.stringify({ 0: ["variables.file"] }));
  form.set("0", new File([CARS], "cars.txt", { type: "text/plain" }));
  await importer.request("POST", "/graphql", form, { "Apollo-Require-Preflight": "true" });
  await running.api.gql("mutation ($a: ID!, $f: ID!) { attachFile(assistantId: $a, fileId: $f) { id } }", {
    a: await newAssistant(running.api),
    f: id,
  });
  await find("My hound?", id, DOGS);
  await drain(running);
  const own = "select id from passages where file_id = $1 or assistant_id = $1";
  const sql = `select count(*)::int as count from passage_embeddings where passage_id in (${own})`;
  expect(await database.query(sql, [id])).toEqual([{ count: 2 }]);
});

describe("without vectors the full-text search finds the answer", () => {
  test("when the model refuses", async () => {
    const assistantId = await knowing(CARS, DOGS);
    stub.status = 500;
    expect(await find("Where is parking?", assistantId)).toEqual([CARS]);
    const { length } = stub.asked;
    expect(await find("Where is parking?", assistantId)).toEqual([CARS]);
    expect(stub.asked).toHaveLength(length); // it is not called again for a while
    stub.status = 200;
  });

  test.each<Record<string, string>>([
    { EMBEDDING_MODEL: "off" },
    { EMBEDDING_BASE_URL: "", EMBEDDING_API_KEY: "" },
  ])("with the settings %j", async (env) => {
    await restart(env);
    const { length } = stub.asked;
    const assistantId = await knowing(CARS, DOGS);
    expect(await find("Where is parking, and my hound?", assistantId)).toEqual([CARS]);
    expect(await drain(running)).toEqual([]);
    expect(stub.asked).toHaveLength(length);
  });
});

test("an organization's own OPENAI key is used if the settings have none", async () => {
  await restart({ EMBEDDING_BASE_URL: "", EMBEDDING_API_KEY: "" });
  const other = await running.otherOrganization();
  const set = "mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }";
  await other.api.gql(set, { input: { provider: "OPENAI", apiKey: "sk-own", baseUrl: stub.url } });
  const scope = running.app.database.scope(other.organizationId);
  await scope.of(Knowledge).find("My hound?", await newAssistant(other.api), { resources: "" });
  expect(stub.asked.at(-1)).toMatchObject({ key: "sk-own", input: ["My hound?"] });
});

test("a database role that cannot create the extension works without vectors, and with them after another role created it", async () => {
  const owner = connect(database.url, { pool: 1 });
  const waiting = { waitMs: 1_000, migration: "passage_embeddings" };
  await owner.raw("drop table passage_embeddings; drop extension vector; create role plain; set role plain");
  await prepareVectors(owner, waiting);
  expect(await hasVectors(owner)).toBe(false);
  await owner.raw("reset role");
  await prepareVectors(owner, waiting);
  await prepareVectors(owner, waiting);
  expect(await hasVectors(owner)).toBe(true);
  const { rows } = await owner.raw<{ rows: object[] }>(
    "select relrowsecurity as hidden from pg_class where relname = 'passage_embeddings'",
  );
  expect(rows).toEqual([{ hidden: true }]);
  await owner.destroy();
});
