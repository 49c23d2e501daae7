import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Api } from "../support/api";
import { endChat, newChat, quietAssistant, say } from "../support/factories";
import { upload } from "../support/files";
import { importerOf } from "../support/importers";

const ORIGIN = "https://shop.example.com";
const FUNCTION = {
  name: "find_order",
  description: "Finds an order",
  parameters: { type: "object", properties: { number: { type: "string" } } },
  serverUrl: "https://example.com/orders",
  secretKey: "function-secret",
};

/** The text of a function that JavaScript would write otherwise. */
export const EXACT_FUNCTION = '{"name":"find","10":1,"9":12345678901234567890}';

/** What a test needs to know about a filled organization. */
export interface Filled {
  readonly assistants: readonly string[];
  readonly deleted: string;
  readonly live: string;
  readonly logs: number;
  readonly fileId: string;
}

/** Gives an organization a record of every kind, and several of most. */
export async function fillOrganization(api: Api, logs = 12): Promise<Filled> {
  const { createProject: project } = await api.gql(
    'mutation { createProject(input: { name: "Shop", description: "é ☺" }) { id } }',
  );
  const assistants: string[] = [];
  for (const index of [0, 1, 2])
    assistants.push(
      await quietAssistant(api, { name: `Assistant ${index}`, variables: { city: "Bern", n: 1.5 } }),
    );
  const [first, second, third] = assistants as [string, string, string];
  await giveExactFunction(api, second);
  const fileId = (
    await upload(api, { content: "Open from 9 to 5.", name: "hours.txt", metadata: { lang: "en" } })
  ).id;
  await upload(api, {
    content: Buffer.from([0, 255, 10, 13]),
    name: "data.bin",
    type: "application/octet-stream",
  });
  await fillAssistant(api, first, project.id, fileId);
  await saveDraft(api, second);
  await addServer(api, second);
  const workflowId = await addWorkflow(api, [first, second], project.id);
  const live = await addLogs(api, [first, second, third], logs);
  await addWorkflowLog(api, workflowId);
  await addForeignLog(api, first);
  await addFacts(api, [first, second, third]);
  await addSettings(api, first, project.id);
  await api.delete(`/rest/v1/assistants/${third}`, 200);
  return { assistants: [first, second], deleted: third, live, logs: logs + 3, fileId };
}

async function fillAssistant(api: Api, id: string, projectId: string, fileId: string): Promise<void> {
  await api.gql(
    "mutation ($id: ID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { id } }",
    {
      id,
      input: { key: "front-desk", projectId, description: "Answers.", missingVariables: "BLANK" },
    },
  );
  for (const kind of ["voice", "chat"])
    await api.patch(
      `/rest/v1/assistants/${id}/${kind}`,
      { prompt: `Speak by ${kind}.`, functions: [FUNCTION] },
      200,
    );
  await api.patch(`/rest/v1/assistants/${id}/chat`, { prompt: "A long prompt. ".repeat(200) }, 200);
  await api.patch(`/rest/v1/assistants/${id}/theme`, { theme: { title: "Hi" }, mode: "CHAT_ONLY" }, 200);
  const variables = { id, origins: [ORIGIN], fileId };
  await api.gql(
    `mutation ($id: ID!, $origins: [String!]!, $fileId: ID!) {
      updateAllowedOrigins(assistantId: $id, origins: $origins) { id }
      updateRagSettings(assistantId: $id, channel: TEXT, input: { isRagEnabled: true, ragTriggerTopics: "hours" }) { id }
      attachFile(assistantId: $id, fileId: $fileId) { id }
      describeAssistantVersion(assistantId: $id, number: 2, note: "Greeting removed") { id } }`,
    variables,
  );
}

/** Gives the function to a configuration and a version before the current one. */
async function giveExactFunction(api: Api, id: string): Promise<void> {
  const path = `/rest/v1/assistants/${id}/chat`;
  const body = `{"functions":[${EXACT_FUNCTION}]}`;
  const { status } = await api.request("PATCH", path, body, { "Content-Type": "application/json" });
  if (status !== 200) throw new Error(`PATCH answered ${status}`);
  await api.patch(path, { temperature: 0.4 }, 200);
}

const saveDraft = (api: Api, id: string) =>
  api.gql(
    `mutation ($id: ID!) { saveAssistantDraft(assistantId: $id, input: {
      name: "Drafted", chat: { prompt: "Try this." }, rag: { sms: { forceRag: true } } }) { basedOn } }`,
    { id },
  );

const addServer = (api: Api, id: string) =>
  api.gql(
    `mutation ($id: ID!) { updateToolServers(assistantId: $id, servers: [{
      name: "crm", url: "https://example.com/mcp", headers: { Authorization: "tool-secret" } }]) { id } }`,
    { id },
  );

/** @returns its id */
async function addWorkflow(
  api: Api,
  [assistantId, next]: [string, string],
  projectId: string,
): Promise<string> {
  const { createWorkflow: workflow } = await api.gql(
    "mutation ($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }",
    { input: { name: "Intake", key: "intake", projectId } },
  );
  const ids: string[] = [];
  for (const node of [
    { type: "START", name: "Start", metadata: { x: 1, y: 2 } },
    { type: "PROMPT", name: "Ask", assistantId, instructions: "Ask for {name}." },
    { type: "END", name: "End", message: "Bye." },
    { type: "PROMPT", name: "Hand over", assistantId: next },
  ])
    ids.push(
      (
        await api.gql(
          "mutation ($id: ID!, $input: CreateWorkflowNodeInput!) { createWorkflowNode(workflowId: $id, input: $input) { id } }",
          { id: workflow.id, input: node },
        )
      ).createWorkflowNode.id,
    );
  for (const edge of [
    { fromNodeId: ids[0], toNodeId: ids[1] },
    { fromNodeId: ids[1], toNodeId: ids[2], kind: "MODEL", description: "done", collects: ["name"], rank: 3 },
    { fromNodeId: ids[1], toNodeId: ids[3], kind: "MODEL", description: "other" },
    { fromNodeId: ids[3], toNodeId: ids[2] },
  ])
    await api.gql(
      "mutation ($id: ID!, $input: CreateWorkflowEdgeInput!) { createWorkflowEdge(workflowId: $id, input: $input) { id } }",
      { id: workflow.id, input: edge },
    );
  const deployment = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
  await api.gql(deployment, {
    input: { type: "TEXT_BUBBLE", workflowId: workflow.id, key: "site", enabled: false },
  });
  await api.gql(deployment, { input: { type: "API", assistantId, assistantVersion: 2, projectId } });
  return workflow.id;
}

async function addWorkflowLog(api: Api, workflowId: string): Promise<void> {
  const start = "mutation ($id: ID!) { startChat(input: { workflowId: $id }) { id } }";
  await endChat(api, (await api.gql(start, { id: workflowId })).startChat.id, "done");
}

async function addSettings(api: Api, assistantId: string, projectId: string): Promise<void> {
  const create =
    "mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }";
  const hook = { url: "https://example.com/hook", secret: "webhook-secret" };
  await api.gql(create, { input: { ...hook, name: "CRM", key: "crm", events: ["session-end"] } });
  await addDisabledDestination(api, { ...hook, id: "old-hook", name: "Broken" });
  await api.gql(create, { input: { ...hook, projectId } });
  await api.post(
    "/rest/v1/organization/keys",
    { name: "Site", permissions: ["read"], assistantIds: [assistantId] },
    200,
  );
  await api.gql(`mutation {
    updateOrganization(input: { requireSignedIdentity: true }) { id }
    updateRetention(input: { logsDays: 4000, eventsDays: 400 }) { id } }`);
}

async function addDisabledDestination(api: Api, input: object): Promise<void> {
  const importer = await importerOf(api);
  await importer.gql(
    "mutation ($input: ImportWebhookDestinationInput!) { importWebhookDestination(input: $input) { id } }",
    { input: { ...input, enabled: false } },
  );
}

/** @returns the id of a chat that is live */
async function addLogs(api: Api, assistants: readonly string[], logs: number): Promise<string> {
  for (let index = 0; index < logs; index++) {
    const uniqueId = index % 2 === 0 ? { uniqueId: `person-${index % 3}` } : {};
    const input = { metadata: { index }, userId: "ada", variables: { plan: "pro" }, ...uniqueId };
    const id = await newChat(api, assistants[index % assistants.length]!, input);
    await say(api, id, `Question ${index}`);
    await say(api, id, `Result ${index} é ☺`, "TOOL");
    await endChat(api, id, "done");
  }
  return newChat(api, assistants[0]!);
}

/** A call with an own label, errors, a recording and messages of all kinds, whose id has no plain form. */
async function addForeignLog(api: Api, assistantId: string): Promise<void> {
  const importer = await importerOf(api);
  const toolCalls = [{ id: "t1", type: "function", function: { name: "find_order", arguments: "{}" } }];
  const log = {
    ...{ id: "old/42 é", type: "VOICE", createdAt: "2023-01-02T03:04:05.678Z", label: "Ms. Lovelace" },
    ...{ phoneNumber: "+41441234567", recordingUrl: "https://example.com/r.mp3", endedReason: "hung-up" },
    errors: [{ at: "2023-01-02T03:04:06.000Z", message: "No answer." }],
    messages: [
      { role: "ASSISTANT", toolCalls, createdAt: "2023-01-02T03:04:07.000Z" },
      {
        role: "TOOL",
        toolCallId: "t1",
        content: "found",
        metadata: { x: [1] },
        createdAt: "2023-01-02T03:04:08.000Z",
      },
    ],
  };
  await importer.gql(
    "mutation ($assistantId: ID!, $logs: [ImportLogInput!]!) { importLogs(assistantId: $assistantId, logs: $logs) { imported } }",
    { assistantId, logs: [log] },
  );
}

/** Gives a person of `addLogs` and one without logs facts from conversations with and without a signed id. */
async function addFacts(api: Api, assistants: readonly string[]): Promise<void> {
  const importer = await importerOf(api);
  const facts = assistants.flatMap((assistantId, index) =>
    [true, false].map((signed) => ({
      ...{ assistantId, text: `Likes ${index} é ☺`, signed, createdAt: "2023-01-02T03:04:05.678Z" },
    })),
  );
  for (const uniqueId of ["person-0", "without logs"])
    await importer.gql(
      "mutation ($id: String!, $facts: [ImportEndUserFactInput!]!) { importEndUserFacts(uniqueId: $id, facts: $facts) { imported } }",
      { id: uniqueId, facts },
    );
}

type Json = Record<string, unknown>;

/** The records of a file of an export. */
export const linesIn = (folder: string, name: string): Json[] =>
  readFileSync(join(folder, name), "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Json);

/** All files of a folder with their bytes, by name. */
export function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), "latin1")]));
}

/** Replaces a file of an export, with its digest in the manifest. */
export function rewrite(folder: string, name: string, content: string): void {
  writeFileSync(join(folder, name), content);
  const path = join(folder, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as { files: Record<string, object> };
  const sha256 = createHash("sha256").update(content).digest("hex");
  manifest.files[name] = { ...manifest.files[name], sha256, bytes: Buffer.byteLength(content) };
  writeFileSync(path, JSON.stringify(manifest));
}
