import { newId } from "../../src/platform/database/values/ids";
import type { Api } from "./api";
import { newAccount } from "./twilio";
import { buildFlow } from "./flows";
import { startSession, VisitorClient } from "./visitor";

export const RECORDS = [
  "assistantId",
  "chatId",
  "destinationId",
  "fileId",
  "keyId",
  "projectId",
  "deliveryId",
  "eventId",
  "callId",
  "workflowId",
  "nodeId",
  "edgeId",
  "deploymentId",
  "connectionId",
  "visitorChatId",
  "erasureId",
  "exportId",
  "logId",
] as const;
export type RecordId = (typeof RECORDS)[number];
type WantedId = RecordId | "visitorToken";
const ALL: readonly WantedId[] = [...RECORDS, "visitorToken"];
type Example = (world: World) => unknown;

/** The ids of one record of each kind in one organization, and the session of the visitor's chat. */
export type World = Readonly<Record<RecordId, string>> & { readonly visitorToken?: string };

const worldOf = (id: (record: RecordId) => string): World =>
  Object.fromEntries(RECORDS.map((record) => [record, id(record)])) as World;

/** Ids that no record has. */
export const unknownWorld = (): World => worldOf(() => newId());

/** Records that an example names. */
export function namedBy(example: Example): RecordId[] {
  const plain = worldOf((record) => record);
  const text = JSON.stringify(example(plain));
  return RECORDS.filter((record) => JSON.stringify(example({ ...plain, [record]: "changed" })) !== text);
}

/**
 * Creates the wanted records by `api`: an assistant with a function and a draft, a live chat, an ended chat, a chat of a page's
 * visitor, a call that waits to be dialed, a workflow with a deployment, a webhook destination with a delivery, a file,
 * a key, a connected number and a project. Records that are not wanted get unknown ids.
 */
export async function buildWorld(api: Api, wanted: readonly WantedId[] = ALL): Promise<World> {
  const wants = (...ids: readonly WantedId[]) => ids.some((id) => wanted.includes(id));
  const { id: assistantId } = await api.post(
    "/rest/v1/assistants",
    { name: "Ada", description: "of the world", variables: { company: "Example" } },
    200,
  );
  await Promise.all([
    api.patch(`/rest/v1/assistants/${assistantId}/chat`, { functions: [{ name: "echo" }] }, 200),
    // An address to which nothing is sent, because it is private.
    api.gql(TOOLS, { assistantId, servers: [{ name: "crm", url: "http://localhost/mcp" }] }),
  ]);
  const isHeard = wants("destinationId", "deliveryId", "eventId");
  const destination =
    isHeard &&
    (await api.post("/rest/v1/settings", { url: "https://example.com/events", secret: "shared" }, 201));
  const made: (Partial<World> | false)[] = await Promise.all([
    (isHeard || wants("chatId", "logId")) && buildChats(api, assistantId),
    wants("fileId") &&
      idOf(
        "fileId",
        api.post("/rest/v1/files/upload", form("notes.txt", "some notes", { source: "world" }), 201),
      ),
    wants("erasureId") && idOf("erasureId", erasing(api)),
    wants("exportId") && idOf("exportId", exporting(api)),
    wants("keyId") && idOf("keyId", api.post("/rest/v1/organization/keys", { type: "PUBLIC" }, 200)),
    wants("projectId") &&
      idOf("projectId", makes(api, "createProject", "CreateProjectInput", { name: "Project" })),
    wants("connectionId") &&
      idOf("connectionId", makes(api, "connectTelephony", "ConnectTelephonyInput", newAccount())),
  ]);
  const delivery = destination && {
    destinationId: destination.id,
    ...(await deliveryOf(api, destination.id)),
  };
  // The events of the call must not be the destination's first events.
  const body = { assistantId, phoneNumber: "+12025550100" };
  const call = wants("callId") && (await idOf("callId", api.post("/rest/v1/call/phone", body, 200)));
  const flow =
    wants("workflowId", "nodeId", "edgeId", "deploymentId") && (await buildDeployed(api, assistantId));
  const visitor = wants("visitorChatId", "visitorToken") && (await buildVisitor(api, assistantId));
  return Object.assign(unknownWorld(), { assistantId }, ...made, delivery, call, flow, visitor);
}

const TOOLS = `mutation ($assistantId: ID!, $servers: [ToolServerInput!]!) {
  updateToolServers(assistantId: $assistantId, servers: $servers) { id }
  saveAssistantDraft(assistantId: $assistantId, input: { description: "drafted" }) { basedOn } }`;

const makes = async (api: Api, mutation: string, type: string, input: object): Promise<{ id: string }> =>
  (await api.gql(`mutation ($input: ${type}!) { ${mutation}(input: $input) { id } }`, { input }))[mutation];

const idOf = async (name: RecordId, made: Promise<{ id: string }>) => ({ [name]: (await made).id });

const erasing = async (api: Api): Promise<{ id: string }> =>
  (await api.gql(`mutation { forgetEndUser(uniqueId: "nobody") { id } }`)).forgetEndUser;

const exporting = async (api: Api): Promise<{ id: string }> =>
  (await api.gql(`mutation { exportEndUser(uniqueId: "nobody") { id } }`)).exportEndUser;

async function buildChats(api: Api, assistantId: string) {
  const [chatId, logId] = await Promise.all([
    buildChat(api, assistantId, false),
    buildChat(api, assistantId, true),
  ]);
  return { chatId, logId };
}

async function buildDeployed(api: Api, assistantId: string) {
  const { workflowId, nodes, edges } = await buildFlow(api, { assistantId });
  const { id } = await makes(api, "createDeployment", "CreateDeploymentInput", { type: "API", workflowId });
  return { workflowId, nodeId: nodes.talk!, edgeId: edges[0]!, deploymentId: id };
}

/**
 * Returns a function that creates a world for an example that changes it, with the records that the example names. The
 * previous world's destination is deleted first, because every event would be delivered to all of them.
 */
export function worlds(api: () => Api): (example: Example, ...also: WantedId[]) => Promise<World> {
  let before: string | undefined;
  return async (example, ...also) => {
    if (before !== undefined) await api().request("DELETE", `/rest/v1/settings/${before}`);
    const world = await buildWorld(api(), [...namedBy(example), ...also]);
    before = world.destinationId;
    return world;
  };
}

/** The first delivery to a destination, and its event, which is followed by others. */
async function deliveryOf(api: Api, destinationId: string) {
  const { webhookDestinations } = await api.gql(
    "{ webhookDestinations { id deliveries(first: 50) { nodes { id event { id } } } } }",
  );
  const { nodes } = webhookDestinations.find(({ id }: { id: string }) => id === destinationId).deliveries;
  const { id: deliveryId, event } = nodes.at(-1);
  return { deliveryId: deliveryId as string, eventId: event.id as string };
}

async function buildChat(api: Api, assistantId: string, ended: boolean): Promise<string> {
  const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  const { startChat } = await api.gql(START, {
    input: { assistantId, userId: "ada", metadata: { order: 7 } },
  });
  const message = { aiChatId: startChat.id, channel: "TEXT", metadata: { source: "world" } };
  await api.post("/rest/v1/ai-chats/messages", { ...message, role: "USER", content: "Are you open?" }, 201);
  await api.post("/rest/v1/ai-chats/messages", { ...message, role: "ASSISTANT", content: "We are." }, 201);
  if (ended) await api.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id: startChat.id });
  return startChat.id;
}

/**
 * A chat started by a visitor of a web page. The session uses the organization's first PUBLIC key, which no test
 * deletes.
 */
async function buildVisitor(api: Api, assistantId: string) {
  const { keys } = (await api.gql("{ keys { type value } }")) as { keys: { type: string; value: string }[] };
  const { value } = keys.findLast(({ type }) => type === "PUBLIC")!;
  const { token } = await startSession(api.url, value, { assistantId });
  const { id } = await new VisitorClient(api.url, token).start();
  return { visitorChatId: id, visitorToken: token };
}

/** The body of an upload. */
export function form(name: string, content: string, metadata?: Readonly<Record<string, unknown>>): FormData {
  const data = new FormData();
  data.set("file", new File([content], name, { type: "text/plain" }));
  if (metadata) data.set("metadata", JSON.stringify(metadata));
  return data;
}

/** All data of a world that another organization could have changed, as its own organization sees it. */
export async function portrait(
  api: Api,
  { assistantId, chatId, workflowId, deploymentId }: World,
): Promise<unknown> {
  const at = `/rest/v1/assistants/${assistantId}`;
  const paths = [at, ...["voice", "sms", "chat", "theme", "logs"].map((part) => `${at}/${part}`)];
  const [log, settings, ...rest] = await Promise.all([
    api.get(`${at}/log/${chatId}`, 200),
    api.get("/rest/v1/settings", 201),
    ...[...paths, "/rest/v1/organization/keys", "/rest/v1/files"].map((path) => api.get(path, 200)),
  ]);
  const flow = await api.gql(
    `query ($workflowId: ID!, $deploymentId: ID!) {
      workflow(id: $workflowId) { name nodes { id name } edges { id rank toNodeId } }
      deployment(id: $deploymentId) { enabled workflow { id } } workflows { id } deployments { id } }`,
    { workflowId, deploymentId },
  );
  return [log.messages, log.metadata.status, settings, flow, ...rest];
}
