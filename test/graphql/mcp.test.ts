import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import Ajv2020 from "ajv/dist/2020";
import addFormats from "ajv-formats";
import { parse, TypeInfo, validate, visit, visitWithTypeInfo, type FieldNode } from "graphql";
import { AGENT_TOOLS } from "../../schema/core/agent-tools";
import { DISCLOSURES } from "../../schema/core/disclosures";
import { toolsOf } from "../../src/mcp/tools";
import { loadCatalog } from "../../src/platform/catalog/load-catalog";
import { readConfig } from "../../src/platform/settings/config";
import { compileInterfaces } from "../../src/start/app";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { variables } from "../support/operations";
import { buildWorld, type World } from "../support/world";

const running = useApp({ WORKER: "on" });
const { schema } = compileInterfaces(loadCatalog(), readConfig({}));
const tools = toolsOf(schema);

let clients: Client[] = [];
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
});

/** The official client, as an agent uses it. */
async function connect(
  headers: Record<string, string> = { "X-API-Key": running.secretKey },
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  clients.push(client);
  const transport = new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), {
    requestInit: { headers },
  });
  await client.connect(transport);
  return client;
}

const call = async (client: Client, name: string, values: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: values })) as CallToolResult;
const dataOf = ({ content }: CallToolResult) => JSON.parse((content[0] as { text: string }).text);
const errorOf = ({ isError, structuredContent }: CallToolResult) => {
  expect(isError).toBe(true);
  return (structuredContent as { errors: Record<string, unknown>[] }).errors[0]!;
};

describe("an agent", () => {
  test("is told what the service is and what it can do", async () => {
    const client = await connect();
    expect(client.getServerVersion()).toMatchObject({ name: "parley" });
    expect(client.getInstructions()).toContain("createAssistant");
    expect(Object.keys(client.getServerCapabilities()!).sort()).toEqual(["resources", "tools"]);
  });

  test("builds an assistant, talks with it and reads what was said", async () => {
    const client = await connect();
    const made = await call(client, "createAssistant", { input: { name: "Front desk" } });
    const { id: assistantId } = dataOf(made).createAssistant;
    const input = { resources: "# Opening hours\nWe open at nine.", initialMessage: "Hello!" };
    await call(client, "updateChatConfiguration", { assistantId, input });
    const started = await call(client, "startChat", { input: { assistantId } });
    const { id: aiChatId, messages } = dataOf(started).startChat;
    expect(messages[0].content).toBe("Hello!");
    const message = { aiChatId, role: "USER", channel: "TEXT", content: "When do you open?", metadata: {} };
    const answered = await call(client, "postMessage", { input: message, withReply: true });
    expect(dataOf(answered).postMessage.reply.content).toContain("nine");
    await call(client, "endChat", { id: aiChatId });
    const log = await call(client, "log", { assistantId, id: aiChatId });
    expect(log.content[0]).toMatchObject({
      type: "text",
      text: expect.stringContaining("When do you open?"),
    });
  });

  test("reads the schema, an assistant with its configurations, and a log as resources", async () => {
    const client = await connect();
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["parley://schema"]);
    const textOf = async (uri: string) =>
      ((await client.readResource({ uri })).contents[0] as { text: string }).text;
    expect(await textOf("parley://schema")).toContain("type Assistant implements Node");
    const id = await newAssistant(running.api);
    expect(JSON.parse(await textOf(`parley://assistants/${id}`))).toMatchObject({
      assistant: { id, chat: { id: `${id}.chat` }, voice: { id: `${id}.voice` } },
    });
    for (const path of ["nothing", "assistants/%zz", "assistants/a/logs/%F0"])
      await expect(textOf(`parley://${path}`)).rejects.toThrow(`There is no resource parley://${path}.`);
    await expect(textOf("parley://assistants/unknown")).rejects.toThrow("No assistant with id");
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ name }) => name)).toEqual(["assistant", "log"]);
  });
});

describe("wrong calls are tool errors with the details of GraphQL:", () => {
  test.each([
    ["a missing argument", "assistant", {}],
    ["a value of another type", "assistants", { take: "many" }],
    ["an unknown enum value", "assistants", { order: "sideways" }],
    ["an unknown field of an input", "createAssistant", { input: { name: "x", nmae: "y" } }],
    ["a value that breaks a rule", "createAssistant", { input: { name: "" } }],
    ["an id that does not exist", "assistant", { id: "unknown" }],
  ])("%s", async (_what, name, values) => {
    const error = errorOf(await call(await connect(), name, values));
    const { body } = await running.api.graphql(tools.get(name)!.document, values);
    const [{ message, extensions }] = body.errors;
    expect(error).toMatchObject({ message, code: extensions.code });
    expect(error.details).toEqual(extensions.details);
    expect(error.requestId).toMatch(/\w/);
  });

  test("an unknown argument is named, with the one that was meant", async () => {
    const error = errorOf(await call(await connect(), "assistant", { id: "x", nmae: 1 }));
    expect(error).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "nmae" }] });
  });

  test("another organization's assistant does not exist", async () => {
    const id = await newAssistant(running.api);
    const other = await running.otherOrganization();
    const client = await connect({ "X-API-Key": other.secretKey });
    expect(errorOf(await call(client, "assistant", { id })).code).toBe("ASSISTANT_NOT_FOUND");
  });

  test("an operation that is no tool cannot be called", async () => {
    const client = await connect();
    for (const name of ["createKey", "identitySecret", "deleteLogs", "nothing"])
      await expect(call(client, name)).rejects.toThrow(`There is no tool ${name}.`);
  });
});

describe("credentials", () => {
  const send = (method: string, headers: Record<string, string> = {}, body: unknown = undefined) =>
    running.api.as({}).request(method, "/mcp", body, headers);
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const accept = { Accept: "application/json, text/event-stream" };

  test("are those of GraphQL", async () => {
    expect(await send("POST", accept, ping)).toMatchObject({
      status: 401,
      body: { code: "UNAUTHENTICATED" },
    });
    const wrong = await send("POST", { ...accept, "X-API-Key": "wrong" }, ping);
    expect(wrong).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
    const page = await send("POST", { ...accept, "X-API-Key": running.publicKey }, ping);
    expect(page).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    const { token } = await running.api.post("/rest/v1/organization/token", {}, 200);
    const bearer = await send("POST", { ...accept, Authorization: `Bearer ${token}` }, ping);
    expect(bearer).toMatchObject({ status: 200, body: { jsonrpc: "2.0", id: 1, result: {} } });
  });

  test("list only the tools that they may call", async () => {
    const limited = { input: { type: "SECRET", permissions: ["read"] } };
    const { createKey } = await running.api.gql(
      `mutation ($input: CreateKeyInput!) { createKey(input: $input) { value } }`,
      limited,
    );
    const client = await connect({ "X-API-Key": createKey.value });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("assistants");
    expect(names).not.toContain("createAssistant");
    expect(errorOf(await call(client, "createAssistant", { input: { name: "x" } })).code).toBe("FORBIDDEN");
  });

  test("other methods, batches and other bodies are refused", async () => {
    const key = { "X-API-Key": running.secretKey };
    for (const method of ["GET", "DELETE"])
      expect(await send(method, { ...accept, ...key })).toMatchObject({ status: 405 });
    expect(await send("POST", { ...accept, ...key }, [ping])).toMatchObject({
      status: 400,
      body: { details: [{ path: "body" }] },
    });
    const malformed = await send("POST", { ...accept, ...key, "Content-Type": "application/json" }, "{");
    expect(malformed).toMatchObject({ status: 400, body: { code: "BAD_USER_INPUT" } });
    expect((await send("POST", { ...accept, ...key }, { hello: 1 })).status).toBe(400);
  });
});

describe("every marked operation", () => {
  let world: World;
  let listed: Map<string, Tool>;
  beforeAll(async () => {
    world = await buildWorld(running.api);
    const { tools } = await (await connect()).listTools();
    listed = new Map(tools.map((tool) => [tool.name, tool]));
  });
  const ajv = addFormats.default(new Ajv2020({ strict: false }));
  for (const format of ["int32", "cursor", "id"]) ajv.addFormat(format, true);
  const names = Object.keys(AGENT_TOOLS);
  /** The secrets that a document selects. */
  function secretsIn(document: string): string[] {
    const info = new TypeInfo(schema);
    const found: string[] = [];
    const Field = ({ name }: FieldNode) => {
      const parent = info.getParentType()!.name;
      if (DISCLOSURES[parent]?.[name.value]) found.push(`${parent}.${name.value}`);
    };
    visit(parse(document), visitWithTypeInfo(info, { Field }));
    return found;
  }

  test.each(names)("%s is a tool with a valid schema, and its document shows no secret", (name) => {
    const { inputSchema, description, annotations } = listed.get(name)!;
    const { document } = tools.get(name)!;
    expect(validate(schema, parse(document))).toEqual([]);
    expect(description).toMatch(/\w/);
    expect(annotations?.readOnlyHint).toBe(document.startsWith("query"));
    const values = variables[name]!(world);
    const isValid = ajv.compile(inputSchema);
    expect([isValid(values), isValid.errors]).toEqual([true, null]);
    expect(isValid({ ...values, unknown: 1 })).toBe(false);
    expect(secretsIn(document)).toEqual([]);
  });

  test.each(names.filter((name) => AGENT_TOOLS[name]!.effect === "reads"))(
    "%s reads without an error",
    async (name) => {
      const { isError, content } = await call(await connect(), name, variables[name]!(world));
      expect([isError, content]).toEqual([undefined, expect.anything()]);
    },
  );
});
