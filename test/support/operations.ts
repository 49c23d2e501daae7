import { getNamedType, isLeafType, type GraphQLField, type GraphQLSchema } from "graphql";
import { createClient } from "graphql-ws";
import WebSocket from "ws";
import { PERMISSION_OF } from "../../schema/core/access";
import type { Api } from "./api";
import { withoutRequest } from "./errors";
import { importerOf } from "./importers";
import { accountOf } from "./twilio";
import type { World } from "./world";

export interface Operation {
  readonly kind: "query" | "mutation" | "subscription";
  readonly name: string;
  /** The document: a variable for each argument, and the smallest possible selection. */
  readonly text: string;
}

/** Every query, mutation and subscription of a schema. */
export function operationsOf(schema: GraphQLSchema): Operation[] {
  const roots = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  return Object.entries(roots).flatMap(([kind, root]) =>
    Object.values(root?.getFields() ?? {}).map((field) => ({
      kind: kind as Operation["kind"],
      name: field.name,
      text: textOf(kind, field),
    })),
  );
}

function textOf(kind: string, { name, args, type }: GraphQLField<unknown, unknown>): string {
  const variables = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(", ");
  const values = args.map((arg) => `${arg.name}: $${arg.name}`).join(", ");
  const selection = isLeafType(getNamedType(type)) ? "" : "{ __typename }";
  return args.length > 0
    ? `${kind} (${variables}) { ${name}(${values}) ${selection} }`
    : `${kind} { ${name} ${selection} }`;
}

const page = { order: "asc", page: 1, take: 5 };
const chat = { metadata: {}, variables: {}, userId: "ada", uniqueId: "ada" };

/** Valid variables for every operation. */
export const variables: Readonly<Record<string, (world: World) => Record<string, unknown>>> = {
  assistants: () => ({ ...page, search: "a" }),
  assistantTemplates: () => page,
  assistant: ({ assistantId: id }) => ({ id }),
  createAssistant: () => ({ input: { name: "Bea" } }),
  updateAssistant: ({ assistantId: id }) => ({ id, input: { name: "Bea" } }),
  deleteAssistant: ({ assistantId: id }) => ({ id }),
  duplicateAssistant: ({ assistantId: id }) => ({ id }),
  updateVoiceConfiguration: ({ assistantId }) => ({ assistantId, input: { prompt: "changed" } }),
  updateSmsConfiguration: ({ assistantId }) => ({ assistantId, input: { prompt: "changed" } }),
  updateChatConfiguration: ({ assistantId }) => ({ assistantId, input: { prompt: "changed" } }),
  updateThemeConfiguration: ({ assistantId }) => ({ assistantId, input: { mode: "CHAT_ONLY" } }),
  updateRagSettings: ({ assistantId }) => ({ assistantId, channel: "SMS", input: { forceRag: true } }),

  assistantVersion: ({ assistantId }) => ({ assistantId, number: 1 }),
  assistantDiff: ({ assistantId }) => ({ assistantId, from: 1, to: 1 }),
  restoreAssistantVersion: ({ assistantId }) => ({ assistantId, number: 1 }),
  saveAssistantDraft: ({ assistantId }) => ({ assistantId, input: { name: "Drafted" } }),
  updateAssistantDocument: ({ assistantId }) => ({ assistantId, input: { description: "Changed at once" } }),
  createAssistantFromDocument: () => ({
    input: { name: "Bea" },
    document: { chat: { prompt: "Be brief." } },
  }),
  publishAssistantDraft: ({ assistantId }) => ({ assistantId }),
  discardAssistantDraft: ({ assistantId }) => ({ assistantId }),
  describeAssistantVersion: ({ assistantId }) => ({ assistantId, number: 1, note: "noted" }),
  updateAllowedOrigins: ({ assistantId }) => ({ assistantId, origins: ["https://changed.example"] }),

  startWidgetSession: ({ assistantId }) => ({ input: { assistantId } }),
  widget: () => ({}),
  widgetChat: ({ visitorChatId: id }) => ({ id }),
  widgetChats: () => ({}),
  startWidgetChat: () => ({ input: { metadata: {}, variables: {} } }),
  postWidgetMessage: ({ visitorChatId: chatId }) => ({ input: { chatId, content: "changed" } }),
  updateWidgetChat: ({ visitorChatId: chatId }) => ({ input: { chatId, metadata: { changed: true } } }),
  endWidgetChat: ({ visitorChatId: id }) => ({ id }),
  startWidgetCall: () => ({ input: { metadata: {}, variables: {} } }),
  widgetChatEvents: ({ visitorChatId: chatId }) => ({ chatId, after: "0" }),

  node: ({ assistantId: id }) => ({ id }),
  nodes: ({ assistantId }) => ({ ids: [assistantId] }),

  log: ({ assistantId, chatId: id }) => ({ assistantId, id }),
  logs: ({ assistantId }) => ({ first: 5, filter: { assistantId, search: "open" } }),
  analytics: ({ assistantId, projectId }) => ({
    input: { assistantId, projectId, timezone: "Asia/Kathmandu" },
  }),
  chats: () => ({ first: 5, filter: { status: "in-progress", channel: "TEXT" } }),
  chat: ({ chatId: id }) => ({ id }),
  startChat: ({ assistantId }) => ({ input: { ...chat, assistantId } }),
  postMessage: ({ chatId: aiChatId }) => ({
    input: { aiChatId, role: "TOOL", channel: "TEXT", content: "changed", metadata: {} },
  }),
  endChat: ({ chatId: id }) => ({ id, reason: "changed" }),
  // After the first id, a chat has events immediately.
  chatEvents: ({ chatId }) => ({ chatId, after: "0" }),

  organization: () => ({}),
  updateOrganization: () => ({ input: { requireSignedIdentity: false } }),
  issueToken: () => ({ input: { expiresIn: "60s" } }),
  issueAnalyticsToken: () => ({}),
  keys: () => ({}),
  keysConnection: () => ({}),
  key: ({ keyId: id }) => ({ id }),
  publicKey: () => ({}),
  createKey: () => ({ input: { type: "PUBLIC" } }),
  updateKey: ({ keyId: id }) => ({ id, input: { status: "INACTIVE" } }),
  deleteKey: ({ keyId: id }) => ({ id }),

  webhookDestinations: () => ({}),
  webhookDestinationsConnection: () => ({}),
  webhookDestination: ({ destinationId: id }) => ({ id }),
  generateWebhookSecret: () => ({}),
  createWebhookDestination: () => ({ input: { url: "https://example.com", secret: "changed" } }),
  updateWebhookDestination: ({ destinationId: id }) => ({ id, input: { name: "changed" } }),
  deleteWebhookDestination: ({ destinationId: id }) => ({ id }),

  auditEvents: () => ({ first: 5, filter: { operation: "createKey" } }),
  auditHead: () => ({}),

  projects: () => ({}),
  projectsConnection: () => ({}),
  project: ({ projectId: id }) => ({ id }),
  createProject: () => ({ input: { name: "Bea" } }),
  updateProject: ({ projectId: id }) => ({ id, input: { name: "changed" } }),
  deleteProject: ({ projectId: id }) => ({ id }),

  events: () => ({ first: 5, filter: { name: "status-changed" } }),
  event: ({ eventId: id }) => ({ id }),
  delivery: ({ deliveryId: id }) => ({ id }),
  organizationEvents: ({ eventId: after }) => ({ after }),
  organizationChanges: () => ({ recordTypes: ["Assistant", "Key", "Organization"], after: "0" }),
  assistantChanges: ({ assistantId }) => ({ assistantId, after: "0" }),
  deliveryChanges: ({ destinationId }) => ({ destinationId }),
  redeliver: ({ deliveryId }) => ({ deliveryId }),
  replayEvents: ({ destinationId }) => ({ input: { destinationId, dryRun: false } }),
  testWebhookDestination: ({ destinationId: id }) => ({ id }),
  sendSampleEvents: ({ destinationId: id }) => ({ id }),

  calls: () => ({ first: 5, filter: { status: "queued", userId: "bea" } }),
  call: ({ callId: id }) => ({ id }),
  placeAssistantCall: ({ assistantId }) => ({ input: { assistantId, phoneNumber: "+41445550100" } }),
  placeWorkflowCall: ({ workflowId }) => ({
    input: { workflowId, phoneNumber: "+41445550100" },
  }),
  startWebCall: ({ assistantId }) => ({ input: { assistantId } }),
  cancelCall: ({ callId: id }) => ({ id }),
  callEvents: ({ callId, eventId: after }) => ({ callId, after }),

  workflows: ({ projectId }) => ({ projectId }),
  workflowsConnection: ({ projectId }) => ({ projectId }),
  workflow: ({ workflowId: id }) => ({ id }),
  createWorkflow: ({ projectId }) => ({ input: { name: "Bea", projectId } }),
  updateWorkflow: ({ workflowId: id }) => ({ id, input: { name: "changed" } }),
  deleteWorkflow: ({ workflowId: id }) => ({ id }),
  replaceWorkflowGraph: ({ workflowId: id, nodeId, edgeId, assistantId }) => ({
    id,
    input: {
      nodes: [
        { ref: "start", type: "START", name: "changed" },
        { id: nodeId, type: "PROMPT", name: "changed", assistantId },
      ],
      edges: [{ id: edgeId, fromNodeId: "start", toNodeId: nodeId }],
    },
  }),
  createWorkflowNode: ({ workflowId, assistantId }) => ({
    workflowId,
    input: { type: "PROMPT", name: "changed", assistantId },
  }),
  updateWorkflowNode: ({ nodeId: id, assistantId }) => ({ id, input: { name: "changed", assistantId } }),
  deleteWorkflowNode: ({ nodeId: id }) => ({ id }),
  createWorkflowEdge: ({ workflowId, nodeId }) => ({
    workflowId,
    input: { fromNodeId: nodeId, toNodeId: nodeId, kind: "MODEL", description: "changed" },
  }),
  updateWorkflowEdge: ({ edgeId: id, nodeId: toNodeId }) => ({ id, input: { rank: 5, toNodeId } }),
  deleteWorkflowEdge: ({ edgeId: id }) => ({ id }),
  deployments: ({ projectId }) => ({ projectId }),
  deploymentsConnection: ({ projectId }) => ({ projectId }),
  deployment: ({ deploymentId: id }) => ({ id }),
  createDeployment: ({ workflowId, projectId }) => ({ input: { type: "API", workflowId, projectId } }),
  updateDeployment: ({ deploymentId: id, workflowId }) => ({ id, input: { enabled: false, workflowId } }),
  deleteDeployment: ({ deploymentId: id }) => ({ id }),

  telephonyConnections: () => ({}),
  telephonyConnectionsConnection: () => ({}),
  telephonyConnection: ({ connectionId: id }) => ({ id }),
  connectTelephony: ({ assistantId }) => ({
    input: { ...accountOf(assistantId), assistantIds: [assistantId] },
  }),
  updateTelephonyConnection: ({ connectionId: id }) => ({ id, input: { assistantIds: [] } }),
  disconnectTelephony: ({ connectionId: id }) => ({ id }),

  modelCredentials: () => ({}),
  setModelCredential: () => ({ input: { provider: "GROQ", apiKey: "changed" } }),
  modelMappings: () => ({}),
  setModelMapping: () => ({ input: { model: "MIXTRAL", name: "changed", provider: "OPENAI" } }),
  testModel: () => ({ input: { model: "MIXTRAL" } }),
  updateToolServers: ({ assistantId }) => ({
    assistantId,
    servers: [{ name: "crm", url: "https://crm.example/mcp", headers: { authorization: "changed" } }],
  }),
  testToolServer: ({ assistantId }) => ({ assistantId, name: "crm" }),
  testFunction: ({ assistantId }) => ({ assistantId, channel: "TEXT", name: "echo", arguments: {} }),
  endUser: () => ({ uniqueId: "ada" }),
  endUsers: () => ({ first: 5 }),
  forgetEndUser: () => ({ uniqueId: "nobody" }),
  deleteLog: ({ assistantId, logId: id }) => ({ assistantId, id }),
  deleteLogs: ({ assistantId }) => ({ filter: { assistantId } }),
  updateRetention: () => ({ input: { logsDays: 30 } }),
  erasures: () => ({ first: 5 }),
  erasure: ({ erasureId: id }) => ({ id }),
  exportEndUser: () => ({ uniqueId: "nobody" }),
  endUserExports: () => ({ first: 5 }),
  endUserExport: ({ exportId: id }) => ({ id }),
  endUserExportDownload: ({ exportId: id }) => ({ id }),
  identitySecret: () => ({}),

  attachFile: ({ assistantId, fileId }) => ({ assistantId, fileId }),
  detachFile: ({ assistantId, fileId }) => ({ assistantId, fileId }),
  files: () => page,
  file: ({ fileId: id }) => ({ id }),
  fileDownload: ({ fileId: id }) => ({ id }),
  uploadFile: () => ({ file: null, metadata: {} }),
  deleteFile: ({ fileId: id }) => ({ id }),

  importAssistant: () => ({ input: { id: "imported/assistant", name: "Bea", chat: { prompt: "changed" } } }),
  importAssistantDraft: ({ assistantId }) => ({
    assistantId,
    input: { basedOn: 1, updatedAt: "2022-01-01T00:00:00Z", name: "Bea" },
  }),
  importAssistantVersions: ({ assistantId }) => ({
    assistantId,
    versions: [
      {
        number: 1,
        actor: "user:ada",
        createdAt: "2022-01-01T00:00:00Z",
        document: { name: "Bea", fileIds: ["file"] },
      },
    ],
  }),
  importDeployment: ({ assistantId }) => ({ input: { id: "imported/deployment", type: "API", assistantId } }),
  importEndUserFacts: ({ assistantId }) => ({
    uniqueId: "ada",
    facts: [{ assistantId, text: "Prefers mornings.", signed: true, createdAt: "2022-01-01T00:00:00Z" }],
  }),
  importFile: () => ({ file: null, input: { id: "imported/file" } }),
  importKey: () => ({ input: { id: "imported/key", value: "a_key_of_another_service" } }),
  importLogs: ({ assistantId }) => ({
    assistantId,
    logs: [
      {
        id: "imported/log",
        ...{ workflowId: "workflow", workflowNodeId: "node", deploymentId: "deployment" },
        versions: [{ assistantId: "speaker", number: 1 }],
        type: "TEXT",
        createdAt: "2024-05-01T12:00:00Z",
        messages: [{ id: "1", role: "USER", content: "changed" }],
      },
    ],
  }),
  importProject: () => ({ input: { id: "imported/project", name: "Bea" } }),
  importWebhookDestination: () => ({
    input: { id: "imported/destination", url: "https://example.com", secret: "changed" },
  }),
  importWorkflow: () => ({
    input: {
      id: "imported/workflow",
      name: "Bea",
      nodes: [
        { id: "start", type: "START", name: "Start" },
        { id: "end", type: "END", name: "End" },
      ],
      edges: [{ id: "edge", fromNodeId: "start", toNodeId: "end" }],
    },
  }),
};

/** Result of an operation: data, or its first error without parts that differ from request to request. */
export interface Outcome {
  readonly data?: unknown;
  readonly code?: string;
  readonly error?: unknown;
}

/** Runs an operation: with a file as a multipart form, a subscription over a WebSocket. */
export async function run(
  client: Api,
  { kind, name, text }: Operation,
  values: Record<string, unknown>,
): Promise<Outcome> {
  if (kind === "subscription") return firstEvent(client, text, values);
  // A key without limits may do all but import.
  const api = PERMISSION_OF[name] === "import" ? await importerOf(client) : client;
  const takesFile = ["uploadFile", "importFile"].includes(name);
  const answer = takesFile ? await upload(api, text, values) : await api.graphql(text, values);
  const [error] = answer.body.errors ?? [];
  if (!error) return { data: answer.body.data };
  const { requestId: _, ...extensions } = error.extensions;
  const { headers, status } = withoutRequest(answer) as { headers: object; status: number };
  return { code: extensions.code, error: { ...error, extensions, headers, status, data: answer.body.data } };
}

/** Uploads by the GraphQL multipart request specification. */
function upload(api: Api, query: string, values: Record<string, unknown>) {
  const form = new FormData();
  form.set("operations", JSON.stringify({ query, variables: values }));
  form.set("map", JSON.stringify({ file: ["variables.file"] }));
  form.set("file", new File(["some notes"], "notes.txt"));
  return api.request("POST", "/graphql", form, { "Apollo-Require-Preflight": "true" });
}

/** The first event of a subscription; for a refused connection, its close code. */
async function firstEvent(api: Api, query: string, values: Record<string, unknown>): Promise<Outcome> {
  const client = createClient({
    url: `${api.url.replace("http", "ws")}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { ...api.headers },
    retryAttempts: 0,
  });
  try {
    for await (const { data, errors } of client.iterate({ query, variables: values }))
      return errors ? failed(errors[0]) : { data };
    return {};
  } catch (thrown) {
    const [error] = [thrown].flat() as { code?: number; extensions?: object }[];
    return error?.extensions ? failed(error) : { code: `closed with ${error?.code}` };
  } finally {
    await client.dispose();
  }
}

function failed(error: unknown): Outcome {
  const plain = JSON.parse(JSON.stringify(error));
  const { requestId: _, ...extensions } = plain.extensions;
  return { code: extensions.code, error: { ...plain, extensions } };
}
