import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";

const running = useApp();
const CHATS = "/rest/v1/ai-chats";
const NAMES = ["name", "größe", "名前", "имя", "नाम", "x.y", "_a1", "größe.länge_2"];
const MISTAKES = ["{a b}", "{first-name}", "{1st}", "{ name }", "{.x}", "{{name}}"];

async function greeter(texts: object, variables: object = {}): Promise<string> {
  const id = await newAssistant(running.api, { name: "Ada", variables });
  for (const channel of ["chat", "voice", "sms"])
    await running.api.patch(`/rest/v1/assistants/${id}/${channel}`, { prompt: "p", ...texts }, 200);
  return id;
}

const warningsOf = (headers: Headers): string =>
  (headers.get("warning") ?? "").replaceAll(/(?:%[0-9A-F]{2})+/g, decodeURIComponent);

describe("the name of a variable", () => {
  test.each(NAMES)("may be %s, in a value of the request and of the assistant", async (name) => {
    const initialMessage = `Hello {${name}}!`;
    const assistantId = await greeter({ initialMessage }, { [name]: "own" });
    const { body, headers } = await running.api.request("POST", CHATS, {
      assistantId,
      variables: { [name]: "sent" },
    });
    expect([body.greeting, headers.get("warning")]).toEqual(["Hello sent!", null]);
    expect((await running.api.post(CHATS, { assistantId }, 201)).greeting).toBe("Hello own!");
  });

  test.each(NAMES.slice(1))("without a value is named in the warning: %s", async (name) => {
    const assistantId = await greeter({ initialMessage: `Hello {${name}}` });
    const { headers, body } = await running.api.request("POST", CHATS, { assistantId });
    expect(body.greeting).toBe(`Hello {${name}}`);
    expect(warningsOf(headers)).toContain(`stay as written: {${name}} in initialMessage.`);
  });

  test("does not make the header too long for clients and proxies", async () => {
    const names = Array.from({ length: 12 }, (_, index) => "名".repeat(58) + index);
    const prompt = names.map((name) => `{${name}} {${name} x}`).join(" ");
    const assistantId = await greeter({ prompt });
    const variables = Object.fromEntries(names.map((name) => [`!${name}`, 1]));
    const { status, headers } = await running.api.request("POST", CHATS, { assistantId, variables });
    const warnings = headers.get("warning")!;
    expect([status, warnings]).toEqual([
      201,
      expect.stringMatching(/^299 parley "Variables without.*\.\.\."$/),
    ]);
    expect(warnings.length).toBeLessThan(4_096);
  });

  test("may be written in any script in conditions and results of workflows", async () => {
    const { api } = running;
    const create = `mutation { createWorkflow(input: { name: "W" }) { id } }`;
    const { createWorkflow } = await api.gql(create);
    const node = `mutation ($id: ID!, $input: CreateWorkflowNodeInput!) { createWorkflowNode(workflowId: $id, input: $input) { id resultVariable } }`;
    const input = { type: "PROMPT", name: "Ask", resultVariable: "größe" };
    const { createWorkflowNode } = await api.gql(node, { id: createWorkflow.id, input });
    expect(createWorkflowNode.resultVariable).toBe("größe");
  });
});

describe("words in braces that are no variable", () => {
  const PATHS: [string, object][] = [
    [CHATS, {}],
    ["/rest/v1/call/phone", { phoneNumber: "+41445550100" }],
    ["/rest/v1/call/web", {}],
  ];
  test.each(PATHS)("are named in the warnings of POST %s", async (path, more) => {
    const functions = [{ name: "f", description: "Looks up {the order}." }];
    const assistantId = await greeter({ initialMessage: MISTAKES.join(" "), functions }, { name: "Bea" });
    const { status, headers } = await running.api.request("POST", path, { assistantId, ...more });
    expect(status).toBeLessThan(300);
    const list = MISTAKES.map((part) => `${part} in initialMessage`).join(", ");
    expect(warningsOf(headers)).toContain(
      `These are not variables: ${list}, {the order} in functions. A variable is a name in single braces; names consist of letters`,
    );
  });

  test("are named by configurationWarnings and by the PATCH that writes them", async () => {
    const assistantId = await greeter({});
    const path = `/rest/v1/assistants/${assistantId}/chat`;
    const { headers } = await running.api.request("PATCH", path, { initialMessage: "Hello {first name}" });
    expect(warningsOf(headers)).toContain("initialMessage: {first name} is not a variable");
    const query = `query ($id: ID!) { assistant(id: $id) { configurationWarnings { path code message } } }`;
    const { assistant } = await running.api.gql(query, { id: assistantId });
    expect(assistant.configurationWarnings).toContainEqual({
      path: "initialMessage",
      code: "UNRESOLVED_VARIABLE",
      message: expect.stringContaining("{first name} is not a variable"),
    });
  });

  test("are named once in each field, and double braces around a name only as such", async () => {
    const long = "x ".repeat(60);
    const text = `{{double}} {{double}} {double} {{ double }} {{first name}} {{first name}} {${long}1} {${long}2}`;
    const assistantId = await greeter({ initialMessage: text });
    const query = `query ($id: ID!) { assistant(id: $id) { configurationWarnings { channel path message } } }`;
    const { assistant } = await running.api.gql(query, { id: assistantId });
    const warnings = assistant.configurationWarnings as { channel: string; path: string; message: string }[];
    const ofChat = warnings.filter(({ channel }) => channel === "TEXT");
    expect(ofChat.map(({ path, message }) => `${path}: ${message.split(" is not ")[0]}`)).toEqual([
      "initialMessage: {{double}}",
      "initialMessage: {{ double }}",
      "initialMessage: {{first name}}",
      expect.stringMatching(/^initialMessage: \{x x .*\.\.\.$/),
    ]);
  });

  test("are named in the parameters of functions, too", async () => {
    const assistantId = await greeter({});
    const property = {
      type: "string",
      description: "Of {the order}",
      enum: ["{{id}}"],
      pattern: "{no name}",
    };
    const fn = { name: "f", parameters: { type: "object", properties: { id: property } } };
    const functions = [{ type: "function", function: fn, server: { url: "https://example.com" } }];
    const path = `/rest/v1/assistants/${assistantId}/chat`;
    const { headers } = await running.api.request("PATCH", path, { functions });
    const at = "functions.0.function.parameters.properties.id";
    expect(warningsOf(headers)).toContain(`${at}.description: {the order} is not a variable`);
    expect(warningsOf(headers)).toContain(
      `${at}.enum.0: {{id}} is not a variable: {id} in it is replaced, and the outer braces stay. Write {id}.`,
    );
    expect(warningsOf(headers)).not.toContain("no name");
  });

  test.each([`{"a": 1}`, "\\d{3}", "{2,5}", "function () { return 1; }", "{}", "{\n}"])(
    "are not meant by %j",
    async (text) => {
      const assistantId = await greeter({ initialMessage: text });
      const { status, headers } = await running.api.request("POST", CHATS, { assistantId });
      expect([status, headers.get("warning")]).toEqual([201, null]);
    },
  );
});

describe("a name in variables that no text can refer to", () => {
  const variables = { "a b": 1, "": 2, "1st": 3, fine: 4 };
  const WARNING =
    'variables: No text can refer to these names: "a b", "", "1st". Names consist of letters, digits, _ and ., and begin with a letter or _.';

  test("is named in extensions.warnings of every operation that takes variables", async () => {
    const assistantId = await greeter({ initialMessage: "Hello" });
    const operations: [string, string, object][] = [
      ["createAssistant", "CreateAssistantInput", { name: "Bea" }],
      ["startChat", "StartChatInput", { assistantId }],
      ["placeAssistantCall", "PlaceAssistantCallInput", { assistantId, phoneNumber: "+41445550100" }],
      ["startWebCall", "StartWebCallInput", { assistantId }],
    ];
    for (const [name, type, more] of operations) {
      const query = `mutation ($input: ${type}!) { ${name}(input: $input) { id } }`;
      const input = { ...more, variables };
      const { body } = await running.api.request("POST", "/graphql", { query, variables: { input } });
      // JSON puts keys that look like numbers first; none of these does.
      expect([name, body.extensions?.warnings]).toEqual([name, [WARNING]]);
    }
  });

  test("is named in the header Warning of a PATCH of an assistant", async () => {
    const id = await greeter({});
    const { headers } = await running.api.request("PATCH", `/rest/v1/assistants/${id}`, { variables });
    expect(headers.get("warning")).toBe(`299 parley "${WARNING.replaceAll('"', '\\"')}"`);
  });

  test("is named to the visitor of a page", async () => {
    const assistantId = await greeter({ initialMessage: "Hello" });
    const open = `mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { token } }`;
    const page = running.api.as({ "X-API-Key": running.publicKey });
    const { startWidgetSession } = await page.gql(open, { input: { assistantId } });
    const visitor = running.api.as({ Authorization: `Bearer ${startWidgetSession.token}` });
    const start = `mutation { startWidgetChat(input: {}) { id } }`;
    const { startWidgetChat } = await visitor.gql(start);
    const query = `mutation ($input: WidgetChatUpdate!) { updateWidgetChat(input: $input) { id } }`;
    const input = { chatId: startWidgetChat.id, variables };
    const { body } = await visitor.request("POST", "/graphql", { query, variables: { input } });
    expect(body.extensions.warnings).toEqual([WARNING]);
  });
});
