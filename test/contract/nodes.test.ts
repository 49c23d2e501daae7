import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLObjectType,
} from "graphql";
import { KINDS, PARTS } from "../../schema/nodes/kinds";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { endChat, newAssistant, newChat, UNKNOWN_ID } from "../support/factories";
import { buildWorld, type World } from "../support/world";

const running = useApp();
const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const types = schema.getPossibleTypes(schema.getType("Node") as never);
const names = types.map(({ name }) => name).toSorted();

/** Types with an id that `node` does not return. */
const WITHOUT: Readonly<Record<string, string>> = {
  AssistantChange: "is a change in a stream, whose assistant is a node",
  AttachedFile: "has the id of its file, in each assistant that uses it",
  AuditEvent: "is only listed",
  Call: "has the id of its chat",
  CallEvent: "is a change in a stream, whose event is a node",
  ChatEvent: "is a change in a stream, whose event is a node",
  Deleted: "names a record that no longer exists",
  FailingDestination: "has the id of its destination",
  Log: "has the id of its chat",
  LogEntry: "has the id of its chat",
  LogListItem: "has the id of its chat",
  Message: "is read with its chat",
  ModelCredential: "has the name of a provider",
  ModelMapping: "has the name of a model",
  RagSettings: "has the id of its configuration",
  RecordChange: "is a change in a stream, whose record is a node",
  Retention: "has the id of its organization",
  WebCall: "has the id of its chat, and is returned only once",
  WidgetChat: "has the id of its chat",
  WidgetChatEvent: "is a change in a stream",
  WidgetMessage: "is read with its chat",
};

/** Fields whose values differ from request to request. */
const VOLATILE = ["Organization.analyticUrl", "File.url", "Key.lastUsedAt"];

type Ids = World & Readonly<Record<"organizationId" | "personId", string>>;
const PERSON = "a person";
/** The id of a record of each type, and the root field that reads it. */
const READS: Readonly<Record<string, { id: (ids: Ids) => string; text: string }>> = {
  Assistant: { id: ({ assistantId }) => assistantId, text: "assistant(id: $id) FIELDS" },
  AssistantVersion: {
    id: ({ assistantId }) => `${assistantId}.1`,
    text: "assistantVersion(assistantId: $assistantId, number: 1) FIELDS",
  },
  Chat: { id: ({ chatId }) => chatId, text: "chat(id: $id) FIELDS" },
  Delivery: { id: ({ deliveryId }) => deliveryId, text: "delivery(id: $id) FIELDS" },
  Deployment: { id: ({ deploymentId }) => deploymentId, text: "deployment(id: $id) FIELDS" },
  EndUser: { id: ({ personId }) => personId, text: `endUser(uniqueId: "${PERSON}") FIELDS` },
  EndUserExport: { id: ({ exportId }) => exportId, text: "endUserExport(id: $id) FIELDS" },
  Event: { id: ({ eventId }) => eventId, text: "event(id: $id) FIELDS" },
  File: { id: ({ fileId }) => fileId, text: "file(id: $id) FIELDS" },
  ForgetReceipt: { id: ({ erasureId }) => erasureId, text: "erasure(id: $id) FIELDS" },
  Key: { id: ({ keyId }) => keyId, text: "key(id: $id) FIELDS" },
  Organization: { id: ({ organizationId }) => organizationId, text: "organization FIELDS" },
  Project: { id: ({ projectId }) => projectId, text: "project(id: $id) FIELDS" },
  TelephonyConnection: {
    id: ({ connectionId }) => connectionId,
    text: "telephonyConnection(id: $id) FIELDS",
  },
  WebhookDestination: {
    id: ({ destinationId }) => destinationId,
    text: "webhookDestination(id: $id) FIELDS",
  },
  Workflow: { id: ({ workflowId }) => workflowId, text: "workflow(id: $id) FIELDS" },
  WorkflowEdge: { id: ({ edgeId }) => edgeId, text: "workflow(id: $workflowId) { edges FIELDS }" },
  WorkflowNode: { id: ({ nodeId }) => nodeId, text: "workflow(id: $workflowId) { nodes FIELDS }" },
  ...Object.fromEntries(
    Object.entries(PARTS).map(([type, kind]) => [
      type,
      {
        id: ({ assistantId }: Ids) => `${assistantId}.${kind}`,
        text: `assistant(id: $assistantId) { ${kind} FIELDS }`,
      },
    ]),
  ),
};

let ids: Ids;
let strangers: Ids;
const credentials: Record<string, Api> = {};

async function idsOf(api: Api): Promise<Ids> {
  const world = await buildWorld(api);
  await endChat(api, await newChat(api, world.assistantId, { uniqueId: PERSON }));
  const { endUser, organization } = await api.gql(
    "query ($uniqueId: String!) { endUser(uniqueId: $uniqueId) { id } organization { id } }",
    { uniqueId: PERSON },
  );
  return { ...world, personId: endUser.id, organizationId: organization.id };
}

beforeAll(async () => {
  const { api, publicKey } = running;
  const other = await running.otherOrganization();
  [ids, strangers] = [await idsOf(api), await idsOf(other.api)];
  const bearer = (value: string) => api.as({ Authorization: `Bearer ${value}` });
  const { token } = await api.post("/rest/v1/organization/token", {}, 200);
  const { token: userToken } = await api.post("/rest/v1/organization/token", { userId: "ada" }, 200);
  const { analyticUrl } = await api.get("/rest/v1/organization", 200);
  const limited = async (limits: object) =>
    api.as({
      "X-API-Key": (await api.post("/rest/v1/organization/keys", { type: "SECRET", ...limits }, 200)).value,
    });
  Object.assign(credentials, {
    "a SECRET key": api,
    "a PUBLIC key": api.as({ "X-API-Key": publicKey }),
    "a token": bearer(token),
    "a token with userId": bearer(userToken),
    "a visitor's session": bearer(ids.visitorToken!),
    "an analytics token": bearer(new URL(analyticUrl).hash.replace("#token=", "")),
    "no credential": api.as({}),
    "a key that only reads": await limited({ permissions: ["read"] }),
    "a key without the permission read": await limited({ permissions: ["write", "webhooks", "keys"] }),
    "a key limited to the assistant": await limited({ assistantIds: [ids.assistantId] }),
    "a key limited to another assistant": await limited({ assistantIds: [await newAssistant(api)] }),
  });
});

/** The scalar fields of a type. */
function fieldsOf(type: GraphQLObjectType): string {
  const leaves = Object.values(type.getFields())
    .filter(({ type, args }) => isLeafType(getNamedType(type)) && !args.some(isRequiredArgument))
    .filter(({ name }) => !VOLATILE.includes(`${type.name}.${name}`));
  return `{ __typename ${leaves.map(({ name }) => name).join(" ")} }`;
}

interface Answer {
  readonly record: unknown;
  readonly code: string | undefined;
}

/** The object with an id in an answer. */
function find(value: unknown, id: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if ((value as { id?: unknown }).id === id) return value;
  return Object.values(value)
    .map((one) => find(one, id))
    .find((one) => one !== undefined);
}

async function ask(api: Api, text: string, variables: Record<string, unknown>): Promise<Answer> {
  const declared = Object.entries({ id: "ID!", assistantId: "ID!", workflowId: "ID!" })
    .filter(([name]) => text.includes(`$${name}`))
    .map(([name, type]) => `$${name}: ${type}`);
  const header = declared.length > 0 ? `query (${declared.join(", ")})` : "query";
  const { body } = await api.graphql(`${header} { ${text} }`, variables);
  return {
    record: find(body.data ?? null, variables.id as string) ?? null,
    code: body.errors?.[0]?.extensions.code,
  };
}

test("every type with an id is a node, or has a reason why it is none", () => {
  const withId = Object.values(schema.getTypeMap()).filter(
    (type) => isObjectType(type) && "id" in type.getFields() && !type.name.startsWith("__"),
  );
  const others = withId.map(({ name }) => name).filter((name) => !names.includes(name));
  expect(others.toSorted()).toEqual(Object.keys(WITHOUT));
  expect(names).toEqual(
    [
      ...new Set(Object.values(KINDS).map(({ type }) => type)),
      ...Object.keys(PARTS),
      "AssistantVersion",
      "Organization",
    ].toSorted(),
  );
  expect(Object.keys(READS).toSorted()).toEqual(names);
  const interfaces = Object.values(schema.getTypeMap()).filter(isInterfaceType);
  expect(interfaces.map(({ name }) => name)).toContain("Node");
});

/** Callers that node and nodes refuse whatever the id is. */
const REFUSED = ["a visitor's session", "an analytics token", "a key without the permission read"];

describe.each([
  "a SECRET key",
  "a PUBLIC key",
  "a token",
  "a token with userId",
  "a visitor's session",
  "an analytics token",
  "no credential",
  "a key that only reads",
  "a key without the permission read",
  "a key limited to the assistant",
  "a key limited to another assistant",
])("with %s", (credential) => {
  test("node and nodes return what the root fields return, and refuse what they refuse", async () => {
    const api = credentials[credential]!;
    const isAdmitted = !REFUSED.includes(credential);
    for (const type of types) {
      const { id: idOf, text } = READS[type.name]!;
      const variables = { ...ids, id: idOf(ids) };
      const fields = fieldsOf(type);
      const root = await ask(api, text.replace("FIELDS", fields), variables);
      const [node, many, plain] = await Promise.all([
        ask(api, `node(id: $id) { ... on ${type.name} ${fields} }`, variables),
        ask(api, `nodes(ids: [$id]) { ... on ${type.name} ${fields} }`, variables),
        ask(api, `node(id: $id) { ... on ${type.name} @include(if: true) ${fields} }`, variables),
      ]);
      const place = (answer: Answer) => [type.name, answer];
      if (root.code === undefined && isAdmitted) {
        expect(root.record).toMatchObject({ __typename: type.name });
        expect(place(node)).toEqual(place(root));
      } else {
        expect(node.record).toBeNull();
        const expected = isAdmitted ? [root.code, "NODE_NOT_FOUND"] : ["FORBIDDEN"];
        expect([type.name, expected]).toEqual([type.name, expect.arrayContaining([node.code])]);
      }
      expect([place(many), place(plain)]).toEqual([place(node), place(node)]);
    }
  });
});

test("ids of other organizations get the same answer as unknown ones, with every credential", async () => {
  for (const [credential, api] of Object.entries(credentials)) {
    const unknown = await ask(api, "node(id: $id) { id }", { id: UNKNOWN_ID });
    const refusal = credential === "no credential" ? "UNAUTHENTICATED" : "FORBIDDEN";
    const isRefused = ["no credential", "a PUBLIC key", ...REFUSED].includes(credential);
    expect([credential, unknown.code]).toEqual([credential, isRefused ? refusal : "NODE_NOT_FOUND"]);
    for (const type of names) {
      const { id: idOf } = READS[type]!;
      const answer = await ask(api, "node(id: $id) { id }", { id: idOf(strangers) });
      expect([credential, type, answer]).toEqual([credential, type, unknown]);
    }
  }
});

test("ids of other organizations and of deleted records are not found", async () => {
  for (const type of names) {
    const id = READS[type]!.id(strangers);
    expect(await ask(running.api, "node(id: $id) { id }", { id })).toEqual({
      record: null,
      code: "NODE_NOT_FOUND",
    });
  }
  const id = await newAssistant(running.api);
  await running.api.request("DELETE", `/rest/v1/assistants/${id}`);
  for (const gone of [
    id,
    `${id}.chat`,
    `${ids.assistantId}.email`,
    `${ids.assistantId}.chat.chat`,
    `${ids.chatId}.chat`,
    `${ids.assistantId}.`,
  ])
    expect(await ask(running.api, "node(id: $id) { id }", { id: gone })).toMatchObject({
      code: "NODE_NOT_FOUND",
    });
});

test("the id of a conversation is that of its chat, also of a call and of a log", async () => {
  const query =
    "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Chat { channel log { id } } } }";
  const { callId, logId } = ids;
  expect((await running.api.gql(query, { ids: [callId, logId] })).nodes).toEqual([
    { __typename: "Chat", id: callId, channel: "VOICE", log: null },
    { __typename: "Chat", id: logId, channel: "TEXT", log: { id: logId } },
  ]);
});

test("a template and its configurations are nodes", async () => {
  const { assistantTemplates } = await running.api.gql(
    "{ assistantTemplates(take: 1) { data { __typename id name chat { __typename id prompt } } } }",
  );
  const [template] = assistantTemplates.data;
  const { nodes } = await running.api.gql(
    "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Assistant { name chat { __typename id prompt } } ... on ChatConfiguration { prompt } } }",
    { ids: [template.id, template.chat.id] },
  );
  expect(nodes).toEqual([template, template.chat]);
});

describe("nodes", () => {
  const query = "query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }";

  test("keeps the data of the other ids, in their order, if one has an error", async () => {
    const { assistantId, projectId } = ids;
    for (const text of [query, query.replace("{ __typename id }", "{ __typename @include(if: true) id }")]) {
      const { body } = await running.api.graphql(text, {
        ids: [projectId, UNKNOWN_ID, assistantId, projectId],
      });
      const project = { __typename: "Project", id: projectId };
      expect(body.data.nodes).toEqual([project, null, { __typename: "Assistant", id: assistantId }, project]);
      expect(body.errors).toEqual([expect.objectContaining({ path: ["nodes", 1] })]);
      expect(body.errors[0]).toMatchObject({
        message: `No record with id "${UNKNOWN_ID}".`,
        extensions: { code: "NODE_NOT_FOUND", requestId: expect.any(String) },
      });
    }
  });

  test("costs as much as its number of ids, which is at most 100", async () => {
    const { chatId } = ids;
    const ask = async (count: number, text = query) =>
      (await running.api.graphql(text, { ids: Array<string>(count).fill(chatId) })).body;
    const cost = async (count: number) => (await ask(count)).extensions.cost.requested as number;
    expect([await cost(1), await cost(3), await cost(100)]).toEqual([1, 3, 100]);
    const nested = query.replace("id }", "id ... on Chat { messages(last: 9) { id } } }");
    expect((await ask(5, nested)).extensions.cost.requested).toBe(50);
    const { errors } = await ask(101);
    expect(errors[0].extensions).toMatchObject({
      code: "BAD_USER_INPUT",
      details: [{ path: "ids", message: "must have at most 100 items; got 101" }],
    });
    expect((await running.api.gql(query, { ids: [] })).nodes).toEqual([]);
  });
});
