import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "@jest/globals";
import type { Api } from "../support/api";
import { beforeFirstMutation } from "../cli-files/folders";
import { useApp } from "../support/app";
import { endChat, newAssistant, quietAssistant } from "../support/factories";
import { storageOf, upload } from "../support/files";
import { newFlow } from "../support/flows";
import { importerOf } from "../support/importers";
import { emptyFolder, runToEnd } from "../support/server";
import { linesIn, rewrite } from "./organization";

const source = useApp();
const target = useApp();

/** An organization of the source without records, and an empty one of the target. */
async function pair() {
  const { api, secretKey } = await source.otherOrganization();
  const { api: copy } = await target.otherOrganization();
  const importKey = (await importerOf(copy)).headers["X-API-Key"]!;
  const folder = join(emptyFolder(), "export");
  return {
    ...{ api, copy, folder },
    export: async () => {
      const env = { PARLEY_URL: source.url, PARLEY_KEY: secretKey };
      expect(await runToEnd("cli/export", env, folder)).toMatchObject({ code: 0 });
    },
    import: (key = importKey) =>
      runToEnd("cli/import", { PARLEY_URL: target.url, PARLEY_KEY: key }, "parley", folder),
  };
}

const SAVE =
  "mutation ($id: ID!, $input: AssistantDraftInput!) { saveAssistantDraft(assistantId: $id, input: $input) { updatedAt } }";
const DRAFT = "query ($id: ID!) { assistant(id: $id) { draft { basedOn updatedAt document } } }";
const draftOf = async (api: Api, id: string) => (await api.gql(DRAFT, { id })).assistant.draft;
const NEWER = "The draft of this assistant was changed here later than in the folder: it stays.";

test("an import that is repeated keeps a draft that was changed here since, and says so", async () => {
  const { api, copy, ...run } = await pair();
  const id = await newAssistant(api, { name: "Ada" });
  await api.gql(SAVE, { id, input: { name: "Drafted" } });
  await run.export();
  expect(await run.import()).toMatchObject({ code: 0 });
  expect(await draftOf(copy, id)).toEqual(await draftOf(api, id));

  await copy.gql(SAVE, { id, input: { name: "Drafted here" } });
  const newer = await draftOf(copy, id);
  const again = await run.import();
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(`${NEWER} [${id}]`) });
  expect(again.stdout).toContain("drafts: 0 imported, 1 already here");
  expect(await draftOf(copy, id)).toEqual(newer);
});

test("an import replaces a draft that is older than the one of the export", async () => {
  const { api, copy, ...run } = await pair();
  const id = await newAssistant(api, { name: "Ada" });
  await api.gql(SAVE, { id, input: { name: "Drafted" } });
  await run.export();
  await run.import();
  const draft = await draftOf(api, id);
  const records = linesIn(run.folder, "assistants.ndjson").map((line) => {
    const document = { ...draft.document, name: "Drafted later" };
    return { ...line, draft: { ...draft, document, updatedAt: new Date(Date.now() + 1_000).toISOString() } };
  });
  rewrite(run.folder, "assistants.ndjson", `${JSON.stringify(records[0])}\n`);
  const { stdout } = await run.import();
  expect(stdout).toContain("drafts: 1 imported, 0 already here");
  expect(stdout).not.toContain(NEWER);
  expect((await draftOf(copy, id)).document.name).toBe("Drafted later");
});

test("a draft is exported without deleted files; one of an older export that names them is imported without them, which is listed", async () => {
  const { api, copy, ...run } = await pair();
  const id = await newAssistant(api, { name: "Ada" });
  const [kept, deleted] = [(await upload(api, { name: "kept.txt" })).id, (await upload(api)).id];
  await api.gql(SAVE, { id, input: { name: "Drafted", fileIds: [kept, deleted] } });
  await api.gql("mutation ($id: ID!) { deleteFile(id: $id) { id } }", { id: deleted });
  await run.export();
  const [record] = linesIn(run.folder, "assistants.ndjson") as [{ draft: { document: object } }];
  const { draft } = record;
  expect(draft.document).toMatchObject({ fileIds: [kept] });
  const older = {
    ...record,
    draft: { ...draft, document: { ...draft.document, fileIds: [kept, deleted] } },
  };
  rewrite(run.folder, "assistants.ndjson", `${JSON.stringify(older)}\n`);
  const { code, stdout } = await run.import();
  expect([code, stdout]).toEqual([0, expect.stringContaining("drafts: 1 imported")]);
  expect(stdout).toContain(
    `The draft of this assistant names files that are deleted: they were left out. [${id}]`,
  );
  expect((await draftOf(copy, id)).document).toMatchObject({ name: "Drafted", fileIds: [kept] });
});

test("a key that is limited to deleted assistants, too, is imported with the others; one limited to no others is not", async () => {
  const { api, copy, ...run } = await pair();
  const kept = await newAssistant(api, { name: "Kept" });
  const deleted = await newAssistant(api, { name: "Deleted" });
  const keyOf = async (...assistantIds: string[]): Promise<{ id: string; value: string }> =>
    api.post("/rest/v1/organization/keys", { permissions: ["read"], assistantIds }, 200);
  const [both, none] = [await keyOf(deleted, kept), await keyOf(deleted)];
  await api.delete(`/rest/v1/assistants/${deleted}`, 200);
  await run.export();
  for (const count of [3, 0]) {
    const { code, stdout } = await run.import();
    expect([code, stdout]).toEqual([0, expect.stringContaining(`API keys: ${count} imported`)]);
    expect(stdout).toContain(
      `This key is limited to assistants that are deleted, so it was left out. [${none.id}]`,
    );
  }
  const query = "query ($id: ID!) { key(id: $id) { permissions assistantIds } }";
  expect((await copy.gql(query, { id: both.id })).key).toEqual({
    permissions: ["read"],
    assistantIds: [kept],
  });
  expect((await copy.gqlError(query, { id: none.id })).extensions.code).toBe("KEY_NOT_FOUND");
});

test("a key that may import at the source is copied without this permission, and the report says to delete it and that of the import", async () => {
  const { api, copy, ...run } = await pair();
  const importer = await importerOf(api);
  const { keys } = await api.gql("{ keys { id value permissions } }");
  const { id } = keys.find(({ value }: { value: string }) => value === importer.headers["X-API-Key"]);
  await run.export();
  const { code, stdout } = await run.import();
  expect(code).toBe(0);
  expect(stdout).toContain(
    `The permission import, which only the command line grants, is not taken over. If this key was made for an earlier import only, delete it here, too. [${id}]`,
  );
  expect(stdout.trim().split("\n").at(-1)).toBe(
    "After the last run, delete the key with which this server was reached: it can store API keys without limits. See docs/import.md.",
  );
  const { key } = await copy.gql("query ($id: ID!) { key(id: $id) { status permissions } }", { id });
  expect(key).toEqual({ status: "ACTIVE", permissions: ["read", "write", "calls", "keys", "webhooks"] });
  expect((await run.import()).stdout).toContain("After the last run");
  const elsewhere = (await target.otherOrganization()).api;
  const refused = await run.import((await importerOf(elsewhere)).headers["X-API-Key"]);
  expect(refused.stdout).toContain("This key was refused: ");
  expect(refused.stdout).not.toContain("delete it here, too");
});

test("an export and an import list a file whose stored content was cut off, and take over the others", async () => {
  const { api, secretKey, organizationId } = await source.otherOrganization();
  const [whole, damaged] = [
    await upload(api, { content: "whole" }),
    await upload(api, { content: "damaged" }),
  ];
  await storageOf(source).put(`${organizationId}/${damaged.id}`, Readable.from(["dam"]));
  const folder = join(emptyFolder(), "export");
  const exported = await runToEnd("cli/export", { PARLEY_URL: source.url, PARLEY_KEY: secretKey }, folder);
  expect([exported.code, exported.stdout]).toEqual([2, expect.stringContaining(`[${damaged.id}]`)]);
  expect(linesIn(folder, "files.ndjson").map(({ id }) => id)).toEqual([whole.id]);

  const { api: copy } = await target.otherOrganization();
  const key = (await importerOf(copy)).headers["X-API-Key"]!;
  const options = ["--from", source.url, "--from-key", secretKey, "--url", target.url, "--key", key];
  const imported = await runToEnd("cli/import", {}, "rest", ...options);
  expect([imported.code, imported.stdout]).toEqual([2, expect.stringContaining(`[${damaged.id}]`)]);
  const { data } = await copy.get("/rest/v1/files", 200);
  expect(data.map(({ id }: { id: string }) => id)).toEqual([whole.id]);
});

test("a webhook destination that gets a project while the lists are read stands in the export once", async () => {
  const { api, secretKey } = await source.otherOrganization();
  const { project, hook } = await api.gql(`mutation {
    project: createProject(input: { name: "Shop" }) { id }
    hook: createWebhookDestination(input: { url: "https://example.com/hook", secret: "a-secret-word" }) { id } }`);
  const move = () =>
    api.gql(
      "mutation ($id: ID!, $input: UpdateWebhookDestinationInput!) { updateWebhookDestination(id: $id, input: $input) { id } }",
      { id: hook.id, input: { projectId: project.id } },
    );
  const { url, stop } = await beforeFirstMutation(source.url, move, `"projectId":"${project.id}"`);
  const folder = join(emptyFolder(), "export");
  const { code } = await runToEnd("cli/export", { PARLEY_URL: url, PARLEY_KEY: secretKey }, folder);
  stop();
  expect([code, linesIn(folder, "webhook-destinations.ndjson").map(({ id }) => id)]).toEqual([0, [hook.id]]);
});

test("an import lists each function of an earlier version or a draft whose secret the folder does not have", async () => {
  const { api, copy, ...run } = await pair();
  const id = await newAssistant(api, { name: "Ada" });
  const call = (name: string, secretKey: string) => ({ name, serverUrl: "https://example.com", secretKey });
  const give = (...functions: object[]) => api.patch(`/rest/v1/assistants/${id}/chat`, { functions }, 200);
  await give(call("former", "secret-1"), call("both", "secret-2"));
  await give(call("both", "secret-2"), call("current", "secret-3"));
  const drafted = [call("current", "secret-4"), call("drafted", "secret-5")];
  await api.gql(SAVE, { id, input: { chat: { functions: drafted } } });
  await run.export();
  const { code, stdout } = await run.import();
  const notes = stdout.split("\n").filter((line) => line.includes("chat.functions"));
  const CALLED = "is called without one, unless one is stored here for this name and address.";
  expect([code, notes]).toEqual([
    0,
    [
      `  - The function "former" in chat.functions has no secret in the folder. It ${CALLED} [${id}, version 2]`,
      `  - The function "drafted" in chat.functions has no secret in the folder. It ${CALLED} [${id}, draft]`,
      `  - The function "current" in chat.functions has the secret of the assistant, as the folder has none of drafts. If the draft has another one, enter it again. [${id}, draft]`,
    ],
  ]);
  expect(stdout).not.toMatch(/secret-\d/);

  await copy.gql(
    "mutation ($id: ID!) { restoreAssistantVersion(assistantId: $id, number: 2) { version { number } } }",
    { id },
  );
  const { functions } = await copy.get(`/rest/v1/assistants/${id}/chat`, 200);
  expect(functions).toEqual([{ name: "former", serverUrl: "https://example.com" }, call("both", "secret-2")]);
});

test("a workflow is imported without the deleted assistant of a node, and the deployment of a deleted assistant is not; both are listed, and logs keep its id", async () => {
  const { api, copy, ...run } = await pair();
  const [kept, deleted] = [await newAssistant(api, { name: "Kept" }), await quietAssistant(api)];
  const workflowId = (await api.gql('mutation { made: createWorkflow(input: { name: "Intake" }) { id } }'))
    .made.id;
  for (const input of [
    { type: "START", name: "Start" },
    { type: "PROMPT", name: "Ask", assistantId: deleted, instructions: "Ask." },
    { type: "PROMPT", name: "Sell", assistantId: kept },
  ])
    await api.gql(
      "mutation ($id: ID!, $input: CreateWorkflowNodeInput!) { createWorkflowNode(workflowId: $id, input: $input) { id } }",
      { id: workflowId, input },
    );
  const deploy = "mutation ($input: CreateDeploymentInput!) { made: createDeployment(input: $input) { id } }";
  const [ofDeleted, ofWorkflow] = [
    (await api.gql(deploy, { input: { type: "API", assistantId: deleted } })).made.id,
    (await api.gql(deploy, { input: { type: "API", workflowId } })).made.id,
  ];
  const chatId = (
    await api.gql("mutation ($id: ID!) { made: startChat(input: { deploymentId: $id }) { id } }", {
      id: ofDeleted,
    })
  ).made.id;
  await endChat(api, chatId, "done");
  await api.delete(`/rest/v1/assistants/${deleted}`, 200);
  await run.export();
  const LISTED = [
    `The node "Ask" names an assistant that is deleted or not in the folder: it was imported without one. [${workflowId}]`,
    `The assistant of this deployment is deleted or not in the folder, so it was left out. [${ofDeleted}]`,
  ];
  for (const count of [1, 0]) {
    const { code, stdout } = await run.import();
    expect([code, stdout]).toEqual([0, expect.stringContaining(`workflows: ${count} imported`)]);
    for (const line of LISTED) expect(stdout).toContain(line);
  }
  const query = `query ($id: ID!) { workflow(id: $id) { nodes { name assistant { id } } } deployments { id } }`;
  expect(await copy.gql(query, { id: workflowId })).toEqual({
    workflow: {
      nodes: [
        { name: "Start", assistant: null },
        { name: "Ask", assistant: null },
        { name: "Sell", assistant: { id: kept } },
      ],
    },
    deployments: [{ id: ofWorkflow }],
  });
  const log = { id: chatId, deploymentId: ofDeleted };
  const chats = await copy.gql("{ chats(first: 1) { nodes { id deploymentId deployment { id } } } }");
  expect(chats).toEqual({ chats: { nodes: [{ ...log, deployment: null }] } });
  const again = join(emptyFolder(), "again");
  const env = { PARLEY_URL: target.url, PARLEY_KEY: copy.headers["X-API-Key"]! };
  expect(await runToEnd("cli/export", env, again)).toMatchObject({ code: 0 });
  expect(linesIn(again, "logs.ndjson")).toMatchObject([log]);
});

test("the log of a workflow is readable, and exported again, without the version of an assistant that the import did not bring", async () => {
  const { api, copy, ...run } = await pair();
  const [first, second] = [await newAssistant(api), await newAssistant(api)];
  const { workflowId } = await newFlow(
    api,
    {
      start: { type: "START" },
      first: { type: "PROMPT", assistantId: first },
      second: { type: "PROMPT", assistantId: second },
      end: { type: "END" },
    },
    [
      ["start", "first"],
      ["first", "second", { kind: "MODEL", description: "Goes on." }],
      ["second", "end", { kind: "MODEL", description: "Is done." }],
    ],
  );
  const start = "mutation ($id: ID!) { made: startChat(input: { workflowId: $id }) { id } }";
  const { id } = (await api.gql(start, { id: workflowId })).made;
  await endChat(api, id, "done");
  await api.delete(`/rest/v1/assistants/${second}`, 200);
  await run.export();
  expect(await run.import()).toMatchObject({ code: 0 });
  const versions = `{ chats(first: 1) { nodes { id version { document } versions { document } } } }`;
  const [chat] = (await copy.gql(versions)).chats.nodes;
  expect(chat).toEqual({ id, version: chat.version, versions: [chat.version] });
  const env = { PARLEY_URL: target.url, PARLEY_KEY: copy.headers["X-API-Key"]! };
  const again = await runToEnd("cli/export", env, join(emptyFolder(), "again"));
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("logs.ndjson: 1") });
});

test("the export of a copy has the deployments of conversations, too", async () => {
  const { api, copy, ...run } = await pair();
  const assistantId = await quietAssistant(api);
  const { made } = await api.gql(
    "mutation ($input: CreateDeploymentInput!) { made: createDeployment(input: $input) { id } }",
    { input: { type: "API", assistantId } },
  );
  const { chat } = await api.gql(
    "mutation ($id: ID!) { chat: startChat(input: { deploymentId: $id }) { id } }",
    { id: made.id },
  );
  await endChat(api, chat.id, "done");
  await run.export();
  expect(await run.import()).toMatchObject({ code: 0 });
  const again = join(emptyFolder(), "export");
  const env = { PARLEY_URL: target.url, PARLEY_KEY: copy.headers["X-API-Key"]! };
  expect(await runToEnd("cli/export", env, again)).toMatchObject({ code: 0 });
  for (const folder of [run.folder, again])
    expect(linesIn(folder, "logs.ndjson")).toMatchObject([{ id: chat.id, deploymentId: made.id }]);
});
