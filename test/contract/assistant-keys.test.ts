import { beforeAll, describe, expect, test } from "@jest/globals";
import { routes } from "../../rest-compat/routes/index";
import { IN_ASSISTANTS } from "../../schema/core/access";
import { AUTHORIZATION } from "../../schema/core/authorization";
import { rootsOf } from "../../schema/core/type-rules";
import { compileInterfaces } from "../../src/start/app";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import type { Api } from "../support/api";
import { useApp } from "../support/app";
import { withoutId, withoutRequest } from "../support/errors";
import { exampleOf, send } from "../support/examples";
import { said } from "../support/factories";
import { newFlow } from "../support/flows";
import { operationsOf, run, variables, type Operation } from "../support/operations";
import { leavesOf, nameOf, operationOf, pathsBelow, type SchemaPath } from "../support/schema-paths";
import { Subscriber } from "../support/subscriber";
import { buildWorld, namedBy, portrait, unknownWorld, worlds, type World } from "../support/world";

const running = useApp();
const { schema, rows } = compileInterfaces(loadCatalog(), readConfig({}));
const operations = operationsOf(schema);
const another = worlds(() => running.api);

/** The assistant that the key can access, with its records. */
let mine: World;
/** Another assistant of the same organization. */
let theirs: World;
let byKey: Api;
let byToken: Api;
/** Part of everything that is said by or about the other assistant. */
const MARK = "Kilimanjaro";

const bearer = (value: string) => running.api.as({ Authorization: `Bearer ${value}` });
async function limitedTo(assistantId: string): Promise<Api> {
  const { value } = await running.api.post(
    "/rest/v1/organization/keys",
    { assistantIds: [assistantId] },
    200,
  );
  return running.api.as({ "X-API-Key": value });
}

beforeAll(async () => {
  const { api } = running;
  mine = await buildWorld(api);
  theirs = await buildWorld(api);
  await api.patch(`/rest/v1/assistants/${theirs.assistantId}`, { name: MARK, description: MARK }, 200);
  for (const part of ["voice", "sms", "chat"])
    await api.patch(`/rest/v1/assistants/${theirs.assistantId}/${part}`, { prompt: MARK }, 200);
  await api.post("/rest/v1/ai-chats/messages", said(theirs.chatId, MARK), 201);
  const call = { assistantId: theirs.assistantId, phoneNumber: "+12025550100", userName: MARK };
  await api.post("/rest/v1/call/phone", call, 200);
  byKey = await limitedTo(mine.assistantId);
  byToken = bearer((await byKey.post("/rest/v1/organization/token", {}, 200)).token);
});

/** Examples that name a record of the whole organization besides those of the assistant. */
const UNREACHED: Readonly<Record<string, string>> = {
  analytics: "PROJECT_NOT_FOUND",
  publicKey: "KEY_NOT_FOUND",
};

const own = operations.filter(
  ({ name }) => IN_ASSISTANTS.has(name) && !["visitor", "key"].includes(AUTHORIZATION[name]!),
);
const wide = operations.filter(({ name }) => !IN_ASSISTANTS.has(name) && AUTHORIZATION[name] !== "visitor");

test("a key limited to assistants reads no records of the whole organization", async () => {
  for (const operation of wide) {
    const { code } = await run(byKey, operation, variables[operation.name]!(mine));
    expect([operation.name, code]).toEqual([operation.name, "FORBIDDEN"]);
  }
});

describe.each(own)("$kind $name", (operation) => {
  const example = variables[operation.name]!;
  const changes = operation.kind === "mutation";

  test("runs for the assistants of a key", async () => {
    const world = changes ? await another(example, "assistantId") : mine;
    const api = changes ? await limitedTo(world.assistantId) : byKey;
    const record = namedBy(example).some((name) => name === "keyId");
    const { code } = await run(api, operation, example(world));
    expect(code).toBe(record ? "KEY_NOT_FOUND" : UNREACHED[operation.name]);
  });

  for (const record of namedBy(example))
    test(`answers for another assistant's ${record} exactly as for an unknown one`, async () => {
      const untouched = changes && (await portrait(running.api, theirs));
      for (const api of [byKey, byToken]) {
        const [theirId, noId] = [theirs[record], unknownWorld()[record]];
        const foreign = await run(api, operation, example({ ...mine, [record]: theirId }));
        const unknown = await run(api, operation, example({ ...mine, [record]: noId }));
        expect(foreign.code).toMatch(/_NOT_FOUND$/);
        expect(withoutId(foreign, theirId)).toEqual(withoutId(unknown, noId));
      }
      if (changes) expect(await portrait(running.api, theirs)).toEqual(untouched);
    });
});

const UPDATE = (type: string) =>
  `mutation ($id: ID!, $input: ${type}!) { updateAssistant(id: $id, input: $input) { id } }`;
const START = (name: string, type: string) =>
  `mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`;

test.each<[string, string, "workflowId" | "deploymentId" | "projectId"]>([
  ["startChat", START("startChat", "StartChatInput"), "workflowId"],
  ["startChat", START("startChat", "StartChatInput"), "deploymentId"],
  ["startWebCall", START("startWebCall", "StartWebCallInput"), "workflowId"],
  ["startWidgetSession", START("startWidgetSession", "WidgetSessionInput"), "deploymentId"],
  ["updateAssistant", UPDATE("UpdateAssistantInput"), "projectId"],
])("%s finds no record of the whole organization: %s %s", async (name, text, record) => {
  const input = { [record]: mine[record] };
  const error = await byKey.gqlError(
    text,
    name === "updateAssistant" ? { id: mine.assistantId, input } : { input },
  );
  expect(error.extensions.code).toMatch(/_NOT_FOUND$/);
});

const listed = rows.filter(({ operation, auth }) => operation && auth !== "none" && auth !== "public");

test.each(listed)("$method $path returns nothing about other assistants", async ({ id }) => {
  const route = routes.find((row) => row.id === id)!;
  const example = exampleOf(route.id);
  const untouched = route.method === "get" ? undefined : await portrait(running.api, theirs);
  if (route.method === "get") {
    const { text } = await send(byKey, route, example(mine));
    for (const trace of [MARK, ...Object.values(theirs)]) expect(text).not.toContain(trace);
  }
  for (const record of namedBy(example)) {
    const [theirId, noId] = [theirs[record], unknownWorld()[record]];
    const foreign = await send(byKey, route, example({ ...mine, [record]: theirId }));
    const unknown = await send(byKey, route, example({ ...mine, [record]: noId }));
    expect(foreign.status).toBeGreaterThanOrEqual(400);
    expect(withoutId(withoutRequest(foreign), theirId)).toEqual(withoutId(withoutRequest(unknown), noId));
  }
  if (untouched) expect(await portrait(running.api, theirs)).toEqual(untouched);
});

/** The shortest path for each root and last step. */
function pathsOf(kind: Operation["kind"], name: string): SchemaPath[] {
  const root = rootsOf(schema).find((type) => type.name.toLowerCase() === kind)!;
  const byStep = new Map<string, SchemaPath>();
  const all = pathsBelow(schema, root, name, () => true).toSorted((a, b) => b.length - a.length);
  for (const path of all) byStep.set(`${path.at(-1)!.on}.${path.at(-1)!.field.name}`, path);
  return [...byStep.values()].sort((a, b) => a.length - b.length);
}

test.each(own.filter(({ kind }) => kind === "query"))(
  "no nested field below $name returns anything about other assistants",
  async ({ kind, name }) => {
    const closed: string[] = [];
    const values = { ...variables[name]!(mine), ...(name === "analytics" && { input: {} }) };
    for (const path of pathsOf(kind, name)) {
      if (closed.some((begin) => nameOf(path).startsWith(`${begin}.`))) continue;
      const operation = operationOf(kind, path, mine, leavesOf(schema, path));
      const { data, code } = await run(byKey, operation, values);
      if (code === "FORBIDDEN") closed.push(nameOf(path));
      const told = JSON.stringify(data ?? null);
      for (const trace of [MARK, ...Object.values(theirs)])
        expect({ path: nameOf(path), trace, told: told.includes(trace) ? told : "" }).toEqual({
          path: nameOf(path),
          trace,
          told: "",
        });
    }
  },
  120_000,
);

test("statistics count only conversations of the key's assistants, as with a filter", async () => {
  const TOTALS = `query ($input: AnalyticsInput!) { analytics(input: $input) {
    totals { conversations messages questions live } assistants { assistantId } functions { name calls }
    endReasons { reason conversations } webhooks { deliveries } failingDestinations { id } } }`;
  const { analytics } = await byKey.gql(TOTALS, { input: {} });
  const filtered = await running.api.gql(TOTALS, { input: { assistantId: mine.assistantId } });
  expect(analytics.totals.conversations).toBeGreaterThan(0);
  expect(analytics).toEqual({
    ...filtered.analytics,
    webhooks: { deliveries: 0 },
    failingDestinations: [],
  });
  const { analyticUrl } = await byKey.get("/rest/v1/organization", 200);
  const page = bearer(new URL(analyticUrl).hash.replace("#token=", ""));
  expect((await page.gql(TOTALS, { input: {} })).analytics).toEqual(analytics);
});

test("lists contain only the key's assistants, chats, calls, logs and events", async () => {
  const LISTS = `{ assistants { data { id } meta { itemCount } } calls { nodes { assistant { id } } }
    logs(first: 100) { nodes { assistantId } } events(first: 100) { nodes { companionId } } }`;
  const { assistants, calls, logs, events } = await byKey.gql(LISTS);
  expect(assistants).toEqual({ data: [{ id: mine.assistantId }], meta: { itemCount: 1 } });
  const ids = [
    ...calls.nodes.map(({ assistant }: { assistant: { id: string } }) => assistant.id),
    ...logs.nodes.map(({ assistantId }: { assistantId: string }) => assistantId),
    ...events.nodes.map(({ companionId }: { companionId: string }) => companionId),
  ];
  expect(new Set(ids)).toEqual(new Set([mine.assistantId]));
});

test("a conversation that a workflow also leads with other assistants shows only the versions of the key's", async () => {
  const { api } = running;
  const { workflowId } = await newFlow(
    api,
    {
      start: { type: "START" },
      first: { type: "PROMPT", assistantId: mine.assistantId },
      second: { type: "PROMPT", assistantId: theirs.assistantId },
      end: { type: "END" },
    },
    [
      ["start", "first"],
      ["first", "second", { kind: "MODEL", description: "Goes on." }],
      ["second", "end", { kind: "MODEL", description: "Is done." }],
    ],
  );
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  const { id } = (await api.gql(start, { input: { workflowId } })).startChat;
  const VERSIONS = "query ($id: ID!) { chat(id: $id) { assistantId version { id } versions { id } } }";
  const all = (await api.gql(VERSIONS, { id })).chat;
  expect(all.versions).toHaveLength(2);
  expect((await byKey.gql(VERSIONS, { id })).chat).toEqual({ ...all, versions: [all.version] });
});

test.each([
  ["organizationEvents", "subscription { organizationEvents { chatId } }"],
  [
    "organizationEvents after an event",
    "subscription ($after: ID) { organizationEvents(after: $after) { chatId } }",
  ],
])("%s streams only events of the key's assistants", async (_name, text) => {
  const subscriber = new Subscriber(running.url, { ...byKey.headers });
  const chats: string[] = [];
  const enough = new Promise<void>((resolve) => {
    void subscriber.run(text, { after: mine.eventId }, (data) => {
      chats.push((data as { organizationEvents: { chatId: string } }).organizationEvents.chatId);
      if (chats.at(-1) === mine.chatId) resolve();
    });
  });
  const post = (chatId: string) => running.api.post("/rest/v1/ai-chats/messages", said(chatId, MARK), 201);
  // Ensures that an event of the other assistant precedes those of the key's, whenever the subscription starts.
  const writing = setInterval(() => void post(theirs.chatId).then(() => post(mine.chatId)), 100);
  await enough;
  clearInterval(writing);
  await subscriber.close();
  expect(chats).not.toContain(theirs.chatId);
});

test("an answer stored for another key's Idempotency-Key is not returned", async () => {
  const headers = { "Idempotency-Key": "shared" };
  const message = said(theirs.chatId, "once");
  await running.api.post("/rest/v1/ai-chats/messages", message, 201, headers);
  const answer = await byKey.request("POST", "/rest/v1/ai-chats/messages", message, headers);
  expect([answer.status, answer.body.code]).toEqual([404, "CHAT_NOT_FOUND"]);
});

test("a PUBLIC key limited to assistants shows only these, even in a renewed session", async () => {
  const SESSION = "mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { token } }";
  const { value } = await running.api.post(
    "/rest/v1/organization/keys",
    { type: "PUBLIC", assistantIds: [mine.assistantId] },
    200,
  );
  const page = running.api.as({ "X-API-Key": value });
  const { startWidgetSession } = await page.gql(SESSION, { input: { assistantId: mine.assistantId } });
  expect(await bearer(startWidgetSession.token).gql("{ widget { assistantId } }")).toEqual({
    widget: { assistantId: mine.assistantId },
  });
  const refused = await page.gqlError(SESSION, { input: { assistantId: theirs.assistantId } });
  expect(refused.extensions.code).toBe("ASSISTANT_NOT_FOUND");
});
