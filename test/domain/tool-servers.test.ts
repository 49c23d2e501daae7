import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant, newChat, UNKNOWN_ID } from "../support/factories";
import { newFlow } from "../support/flows";
import { afterTest } from "../support/server";
import { stubModel, type Reply } from "../support/stub-model";
import { saying, toolServer, type OfferedTool, type ToolServer } from "../support/tool-server";
import { until } from "../support/until";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8" });
const SET = `mutation ($id: ID!, $servers: [ToolServerInput!]!) {
  updateToolServers(assistantId: $id, servers: $servers) { id toolServers { name url headerNames allowedTools } } }`;
const TRY = `mutation ($id: ID!, $name: String!) {
  testToolServer(assistantId: $id, name: $name) { connected problem tools { name description parameters allowed callName problem } unknownTools } }`;
const CREDENTIAL = `mutation ($url: String!) { setModelCredential(input: { provider: OPENAI, apiKey: "k", baseUrl: $url }) { provider } }`;
const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { role content } }`;

const NUMBER: OfferedTool["inputSchema"] = {
  type: "object",
  properties: { number: { type: "integer" } },
  required: ["number"],
};
const FIND: OfferedTool = {
  name: "find_order",
  description: "Finds an order",
  inputSchema: NUMBER,
  run: ({ number }) => saying(`Order ${String(number)} is on its way.`),
};

const set = (id: string, ...servers: object[]) => running.api.gql(SET, { id, servers });
const tryServer = async (id: string, name: string) =>
  (await running.api.gql(TRY, { id, name })).testToolServer;

/** Talks with an assistant that has these servers, whose model replies so. */
async function talking(servers: object[], replies: Reply[], functions: object[] = []) {
  const model = await stubModel(...replies);
  afterTest(model.stop);
  await running.api.gql(CREDENTIAL, { url: model.url });
  const id = await newAssistant(running.api);
  await running.api.patch(`/rest/v1/assistants/${id}/chat`, { functions, initialMessage: "" }, 200);
  await set(id, ...servers);
  const chatId = await newChat(running.api, id);
  const say = async (content: string, to = chatId) => {
    const input = { aiChatId: to, role: "USER", channel: "TEXT", content, metadata: {} };
    return (await running.api.gql(POST, { input })).postMessage.content as string;
  };
  const offered = (request: number) => (model.asked[request]?.tools ?? []).map((tool) => tool.function.name);
  return { id, chatId, say, model, offered };
}
const called = (name: string, args: object = {}): Reply => ({ call: name, arguments: JSON.stringify(args) });
const told = ({ asked }: { asked: readonly { messages: readonly { role: string; content: unknown }[] }[] }) =>
  asked
    .at(-1)!
    .messages.filter(({ role }) => role === "tool")
    .map(({ content }) => content);

describe("an assistant with a tool server", () => {
  test("offers its tools to the model, calls them with the headers and the id of the chat, and answers with them", async () => {
    const server = await toolServer(FIND);
    const headers = { Authorization: "Bearer of-the-shop" };
    const { say, model, chatId, offered } = await talking(
      [{ name: "shop", url: server.url, headers }],
      [called("shop_find_order", { number: 7 }), { text: ["It is on its way."] }],
    );
    expect(await say("Where is order 7?")).toBe("It is on its way.");
    expect(offered(0)).toEqual(["shop_find_order"]);
    expect(model.asked[0]!.tools![0]!.function).toMatchObject({
      description: "Finds an order",
      parameters: NUMBER,
    });
    expect(told(model)).toEqual(["Order 7 is on its way."]);
    for (const asked of server.asked) expect(asked.headers.authorization).toBe("Bearer of-the-shop");
    const [call] = server.calls();
    expect([call!["parley-chat-id"], call!["idempotency-key"]]).toEqual([
      chatId,
      expect.stringMatching(/^call_/),
    ]);
    expect(server.asked.some(({ method }) => method === undefined)).toBe(false); // no stream is kept open
    const { messages } = (
      await running.api.gql(`query ($id: ID!) { chat(id: $id) { messages { role content } } }`, {
        id: chatId,
      })
    ).chat;
    expect(messages.map(({ role }: { role: string }) => role)).toEqual([
      "USER",
      "ASSISTANT",
      "TOOL",
      "ASSISTANT",
    ]);
  });

  test("lists the tools once for a chat, and again for a chat that begins more than a minute later", async () => {
    const server = await toolServer(FIND);
    const { say, offered, id } = await talking([{ name: "shop", url: server.url }], [{ text: ["Yes."] }]);
    for (const text of ["one", "two", "three"]) await say(text);
    expect([server.lists(), offered(2)]).toEqual([1, ["shop_find_order"]]);
    await say("in another chat", await newChat(running.api, id));
    expect(server.lists()).toBe(1);
  });

  test("has only the tools that are allowed, under names that models accept and that begin with the server", async () => {
    const [first, second] = [
      await toolServer(
        FIND,
        { name: "orders/list.all", description: "" },
        { name: "secret", description: "" },
      ),
      await toolServer({ ...FIND, run: () => saying("from the second") }),
    ];
    const own = { name: "send_mail", description: "", serverUrl: "https://example.com" };
    const { say, model, offered } = await talking(
      [
        { name: "a", url: first.url, allowedTools: ["find_order", "orders/list.all", "gone"] },
        { name: "b", url: second.url },
      ],
      [called("b_find_order", { number: 1 }), { text: ["Done."] }],
      [own],
    );
    await say("Look.");
    expect(offered(0)).toEqual(["send_mail", "a_find_order", "a_orders_list_all", "b_find_order"]);
    expect(told(model)).toEqual(["from the second"]);
  });

  test("a function hides the tool of the same name", async () => {
    const server = await toolServer(FIND, { name: "other", description: "" });
    const own = { name: "shop_find_order", description: "own", serverUrl: "https://example.com" };
    const { say, offered } = await talking([{ name: "shop", url: server.url }], [{ text: ["Yes."] }], [own]);
    await say("Hello?");
    expect(offered(0)).toEqual(["shop_find_order", "shop_other"]);
  });

  test("takes the list that began with the chat, and calls no other server while one is away", async () => {
    const [away, works] = [await toolServer(FIND), await toolServer(FIND)];
    away.answer((res) => void res.writeHead(503).end());
    const servers = [
      { name: "away", url: away.url },
      { name: "works", url: works.url },
    ];
    const { say, model, chatId } = await talking(servers, [
      called("away_find_order", { number: 1 }),
      { text: ["No."] },
    ]);
    await until(() => works.lists() === 1); // before any message
    expect(chatId).toMatch(/\w/);
    await say("Where is it?");
    expect([works.calls(), works.lists(), told(model)]).toEqual([
      [],
      1,
      ["There is no function away_find_order."],
    ]);
  });

  test("sends the headers of a call with the call alone", async () => {
    const server = await toolServer(FIND);
    const { say } = await talking(
      [{ name: "shop", url: server.url }],
      [called("shop_find_order", { number: 7 }), { text: ["Yes."] }],
    );
    await say("Where is order 7?");
    const others = server.asked.filter(({ method }) => method !== "tools/call");
    expect(others.length).toBeGreaterThan(1);
    for (const { headers } of others)
      expect([headers["idempotency-key"], headers["parley-chat-id"]]).toEqual([undefined, undefined]);
  });

  test("gets tools whose schema names its dialect, and those beside a malformed one", async () => {
    const dialect = { $schema: "https://json-schema.org/draft/2020-12/schema", ...NUMBER } as never;
    const server = await toolServer({ ...FIND, inputSchema: dialect });
    const tools = [
      { name: "none", inputSchema: null },
      { name: "odd", inputSchema: { type: "string" } },
      { name: 1 },
      FIND,
    ];
    const { say, offered } = await talking([{ name: "shop", url: server.url }], [{ text: ["Yes."] }]);
    await say("Hello?");
    expect(offered(0)).toEqual(["shop_find_order"]);
    const odd = await toolServer(...(tools as never[]));
    const id = await newAssistant(running.api);
    await set(id, { name: "odd", url: odd.url });
    const { connected, problem, tools: listed } = await tryServer(id, "odd");
    expect(problem).toBeNull();
    expect([connected, listed.map(({ name }: { name: string }) => name)]).toEqual([true, ["find_order"]]);
  });

  test("never shows the headers of a server that repeats them", async () => {
    const TOKEN = "Bearer of-the-shop-and-long";
    const repeats = (): never => {
      throw new Error(`refused ${TOKEN}`);
    };
    const server = await toolServer(
      { ...FIND, run: () => saying(`You sent ${TOKEN}`) },
      { name: "fail", description: "", run: repeats },
    );
    const { say, model, id } = await talking(
      [{ name: "shop", url: server.url, headers: { Authorization: TOKEN } }],
      [called("shop_find_order", { number: 1 }), called("shop_fail"), { text: ["Well."] }],
    );
    await say("Show it.");
    expect(told(model)).toEqual([
      "You sent ***",
      "The tool could not be called: The server answered: refused ***",
    ]);
    server.answer((res) => void res.writeHead(200, { "content-type": TOKEN }).end());
    expect(JSON.stringify(await tryServer(id, "shop"))).not.toContain("of-the-shop");
  });

  test("does not send arguments that do not fit, and tells the model so", async () => {
    const server = await toolServer(FIND);
    const { say, model } = await talking(
      [{ name: "shop", url: server.url }],
      [called("shop_find_order", { number: "seven" }), { text: ["Which number?"] }],
    );
    await say("Where is it?");
    expect([server.calls(), String(told(model)[0])]).toEqual([[], expect.stringContaining("number")]);
  });

  test("leaves tools out whose schema cannot be used or is too long, and cuts long descriptions", async () => {
    const wrong = { type: "object", properties: { a: { type: "nonsense" } } } as never;
    const long = {
      type: "object",
      properties: { a: { type: "string", description: "x".repeat(65_536) } },
    } as never;
    const server = await toolServer(
      { ...FIND, description: "y".repeat(5_000) },
      { name: "wrong", description: "", inputSchema: wrong },
      { name: "long", description: "", inputSchema: long },
    );
    const { say, offered, model } = await talking([{ name: "shop", url: server.url }], [{ text: ["Yes."] }]);
    await say("Hello?");
    expect(offered(0)).toEqual(["shop_find_order"]);
    expect(model.asked[0]!.tools![0]!.function.description).toBe("y".repeat(4_096));
  });
});

/** Servers that cannot be used, with what testToolServer says of them. */
const BROKEN: Record<string, [change: (server: ToolServer) => void, problem: RegExp]> = {
  "refuses the credential": [
    (it) => it.answer((res) => void res.writeHead(401).end()),
    /^The server answered with status 401\.$/,
  ],
  fails: [
    (it) => it.answer((res) => void res.writeHead(500).end("boom")),
    /^The server answered with status 500\.$/,
  ],
  "is no server of tools": [
    (it) => it.answer((res) => void res.writeHead(200, { "content-type": "text/html" }).end("<html>")),
    /^The server does not speak the Model Context Protocol/,
  ],
  redirects: [
    (it) => it.answer((res) => void res.writeHead(302, { location: "http://169.254.169.254/" }).end()),
    /redirects are not followed/,
  ],
  "breaks connections": [
    (it) => it.answer((res) => void res.destroy()),
    /^The connection failed \(UND_ERR_SOCKET\)\.$/,
  ],
  "does not answer": [(it) => it.answer(() => undefined), /^No answer in time\.$/],
  "answers too much": [
    (it) =>
      it.answer(
        (res) => void res.writeHead(200, { "content-type": "application/json" }).end(" ".repeat(2 ** 21)),
      ),
    /^The server's response exceeds 1048576 bytes\.$/,
  ],
};

describe("a tool server that", () => {
  test.each(Object.entries(BROKEN))("%s costs its tools, not the chat", async (_name, [breakIt, problem]) => {
    const [broken, works] = [await toolServer(FIND), await toolServer({ name: "weather", description: "" })];
    breakIt(broken);
    const servers = [
      { name: "broken", url: broken.url },
      { name: "works", url: works.url },
    ];
    const { say, offered, id } = await talking(servers, [{ text: ["Hello."] }]);
    expect(await say("Hello?")).toBe("Hello.");
    expect(await say("And now?")).toBe("Hello.");
    expect([offered(0), offered(1)]).toEqual([["works_weather"], ["works_weather"]]);
    expect(await tryServer(id, "broken")).toEqual({
      connected: false,
      problem: expect.stringMatching(problem),
      tools: [],
      unknownTools: [],
    });
    broken.answer(undefined);
    expect(await tryServer(id, "broken")).toMatchObject({
      connected: true,
      problem: null,
      tools: [{ name: "find_order" }],
    });
  });

  test.each([
    ["fails", (it: ToolServer) => it.answer((res) => void res.writeHead(500).end())],
    ["breaks off", (it: ToolServer) => it.answer((res) => void res.destroy())],
  ])("%s after it was listed tells the model that the call failed", async (_name, breakIt) => {
    const server = await toolServer(FIND);
    const { say, model } = await talking(
      [{ name: "shop", url: server.url }],
      [{ text: ["Hello."] }, called("shop_find_order", { number: 7 }), { text: ["I cannot see it."] }],
    );
    await say("Hello?");
    breakIt(server);
    expect(await say("Where is order 7?")).toBe("I cannot see it.");
    expect(String(told(model)[0])).toMatch(/^The tool could not be called: /);
  });

  test.each([
    ["an error", { isError: true, content: [{ type: "text", text: "No such order." }] }, "No such order."],
    ["an image", { content: [{ type: "image", data: "", mimeType: "image/png" }] }, "(image left out)"],
    ["structured content", { content: [], structuredContent: { a: 1 } }, '{"a":1}'],
    ["nothing", { content: [] }, "The tool was called."],
    ["too much", saying("x".repeat(65_537)), "The tool's answer is too long."],
  ])("answers with %s gives the model a text", async (_name, result, text) => {
    const server = await toolServer({ ...FIND, run: () => result as never });
    const { say, model } = await talking(
      [{ name: "shop", url: server.url }],
      [called("shop_find_order", { number: 7 }), { text: ["Well."] }],
    );
    await say("Where is it?");
    expect(told(model)).toEqual([text]);
  });
});

test("the schema of a tool's results is not compiled, because it could block the service", async () => {
  const outputSchema = { type: "object", properties: { a: { $ref: "#/nowhere" } } } as never;
  const server = await toolServer({ ...FIND, outputSchema });
  const { say } = await talking(
    [{ name: "shop", url: server.url }],
    [called("shop_find_order", { number: 1 }), { text: ["Found."] }],
  );
  expect(await say("Where is it?")).toBe("Found.");
  expect(server.calls()).toHaveLength(1);
});

describe("updateToolServers", () => {
  test("stores headers encrypted, never shows them, and keeps those that are left out for the same origin", async () => {
    const server = await toolServer(FIND);
    const id = await newAssistant(running.api);
    const shop = { name: "shop", url: server.url };
    const headers = { "X-Token": "very-secret" };
    const { updateToolServers: stored } = await set(id, { ...shop, headers });
    expect(stored.toolServers).toEqual([{ ...shop, headerNames: ["X-Token"], allowedTools: null }]);
    const rows = await running.database.query(
      "select assistants::text as row from assistants where id = $1",
      [id],
    );
    expect(JSON.stringify(rows)).not.toContain("very-secret");
    const sent = async () => {
      await tryServer(id, "shop");
      return server.asked.at(-1)!.headers["x-token"];
    };
    await set(id, { ...shop, url: `${server.url}?v=2`, allowedTools: ["find_order"] });
    expect(await sent()).toBe("very-secret");
    const other = await toolServer(FIND);
    await set(id, { ...shop, url: other.url });
    await tryServer(id, "shop");
    expect(other.asked.every(({ headers }) => headers["x-token"] === undefined)).toBe(true);
    await set(id, { ...shop, headers });
    await set(id, { ...shop, headers: {} });
    expect(await sent()).toBeUndefined();
    await set(id);
    expect((await running.api.gqlError(TRY, { id, name: "shop" })).extensions.code).toBe(
      "TOOL_SERVER_NOT_FOUND",
    );
  });

  test("warns of headers that it removes, and says what the model gets", async () => {
    const server = await toolServer(FIND, { name: "other", description: "" });
    const id = await newAssistant(running.api);
    const shop = { name: "shop", url: server.url, allowedTools: ["find_order", "gone"] };
    const warnings = async (...servers: object[]) =>
      ((await running.api.graphql(SET, { id, servers })).body.extensions as { warnings?: string[] }).warnings;
    expect(await warnings({ ...shop, headers: { a: "b" } })).toBeUndefined();
    expect(await warnings({ ...shop, name: "store" })).toEqual([
      expect.stringContaining("tool server shop were removed"),
    ]);
    await set(id, { ...shop, headers: { a: "b" } });
    expect(await warnings({ ...shop, headers: {} })).toBeUndefined();
    expect(await tryServer(id, "shop")).toMatchObject({
      tools: [
        { name: "find_order", allowed: true, callName: "shop_find_order", problem: null },
        { name: "other", allowed: false, callName: null, problem: null },
      ],
      unknownTools: ["gone"],
    });
  });

  test("a copy of the assistant has the servers with their headers", async () => {
    const server = await toolServer(FIND);
    const id = await newAssistant(running.api);
    await set(id, { name: "shop", url: server.url, headers: { "X-Token": "very-secret" } });
    const copy = await running.api.post(`/rest/v1/assistants/duplicate/${id}`, {}, 200);
    expect(await tryServer(copy.id as string, "shop")).toMatchObject({ connected: true });
    expect(server.asked.at(-1)!.headers["x-token"]).toBe("very-secret");
  });

  test.each([
    [{ name: "a b" }, "servers.0.name", "must consist of letters, digits, _ and -"],
    [{ name: "" }, "servers.0.name", "must not be empty"],
    [{ url: "ftp://example.com" }, "servers.0.url", "must be a URL that begins with http:// or https://"],
    [
      { url: "http://10.0.0.1/mcp" },
      "servers.0.url",
      "must not be a private, local or reserved address, unless the operator lists it in OUTBOUND_ALLOW",
    ],
    [{ headers: { "a b": "c" } }, "servers.0.headers.a b", "has a name that no HTTP header can have"],
    [{ headers: { Host: "c" } }, "servers.0.headers.Host", "is set by the service"],
    [{ headers: { "parley-chat-id": "c" } }, "servers.0.headers.parley-chat-id", "is set by the service"],
    [{ headers: { a: "b\r\nc: d" } }, "servers.0.headers.a", "must be 1 to 4,096 printable ASCII characters"],
    [{ headers: { a: 1 } }, "servers.0.headers.a", "must be 1 to 4,096 printable ASCII characters"],
    [
      { headers: { "X-Key": "1", "x-key": "2" } },
      "servers.0.headers.x-key",
      "must differ from the names of the other headers",
    ],
    [{ allowedTools: [] }, "servers.0.allowedTools", "must have at least 1 item; got 0"],
  ])("refuses %j", async (change, path, message) => {
    const id = await newAssistant(running.api);
    const servers = [{ name: "shop", url: "https://example.com/mcp", ...change }];
    const { extensions } = await running.api.gqlError(SET, { id, servers });
    expect([extensions.code, extensions.details]).toEqual(["BAD_USER_INPUT", [{ path, message }]]);
  });

  test("refuses two servers of one name, a template, and an unknown assistant", async () => {
    const id = await newAssistant(running.api);
    const shop = { name: "shop", url: "https://example.com/mcp" };
    const double = await running.api.gqlError(SET, { id, servers: [shop, shop] });
    expect(double.extensions.details).toEqual([
      { path: "servers.1.name", message: "must differ from the names of the other servers" },
    ]);
    const { data } = (await running.api.gql("{ assistantTemplates { data { id } } }")).assistantTemplates;
    const codeFor = async (one: string) =>
      (await running.api.gqlError(SET, { id: one, servers: [shop] })).extensions.code;
    expect([await codeFor(data[0].id), await codeFor(UNKNOWN_ID)]).toEqual([
      "TEMPLATE_READ_ONLY",
      "ASSISTANT_NOT_FOUND",
    ]);
  });
});

test("testFunction calls a tool", async () => {
  const server = await toolServer(FIND);
  const id = await newAssistant(running.api);
  await set(id, { name: "shop", url: server.url });
  const { testFunction } = await running.api.gql(
    `mutation ($id: ID!) { testFunction(assistantId: $id, channel: SMS, name: "shop_find_order", arguments: { number: 3 }) { failed response request } }`,
    { id },
  );
  expect(testFunction).toEqual({
    failed: false,
    response: "Order 3 is on its way.",
    request: { url: server.url, body: { name: "find_order", arguments: { number: 3 } } },
  });
  server.answer((res) => void res.writeHead(401).end());
  expect(await tryServer(id, "shop")).toMatchObject({ connected: false });
  const failed = await running.api.gql(
    `mutation ($id: ID!) { testFunction(assistantId: $id, channel: SMS, name: "shop_find_order", arguments: {}) { failed response } }`,
    { id },
  );
  expect(failed.testFunction).toEqual({
    failed: true,
    response: "The tools of the server shop cannot be listed: The server answered with status 401.",
  });
});

test("an ACTION of a workflow calls a tool that is allowed by name", async () => {
  const server = await toolServer(FIND);
  const assistantId = await newAssistant(running.api);
  const shop = { name: "shop", url: server.url };
  await set(assistantId, shop);
  const { workflowId } = await newFlow(
    running.api,
    {
      start: { type: "START" },
      look: {
        type: "ACTION",
        assistantId,
        functionName: "shop_find_order",
        arguments: { number: "{number}" },
        resultVariable: "order",
      },
      talk: { type: "PROMPT", assistantId },
      end: { type: "END" },
    },
    [
      ["start", "look"],
      ["look", "talk"],
      ["talk", "end", { kind: "MODEL", description: "Goodbye." }],
    ],
  );
  const problems = async () =>
    (
      await running.api.gql("query ($id: ID!) { workflow(id: $id) { problems { code } } }", {
        id: workflowId,
      })
    ).workflow.problems;
  const unset = { code: "UNSET_VARIABLE" }; // each chat sets the number
  expect(await problems()).toEqual([{ code: "UNKNOWN_FUNCTION" }, unset]);
  await set(assistantId, { ...shop, allowedTools: ["find_order"] });
  expect(await problems()).toEqual([unset]);
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  const { startChat } = await running.api.gql(start, { input: { workflowId, variables: { number: 7 } } });
  const chatId = startChat.id as string;
  await until(() => server.calls().length > 0);
  expect(server.calls()[0]!["parley-chat-id"]).toBe(chatId);
  const read = "query ($id: ID!) { chat(id: $id) { messages { role content } } }";
  const spoken = async () =>
    (await running.api.gql(read, { id: chatId })).chat.messages as { role: string; content: string }[];
  await until(async () => (await spoken()).some(({ role }) => role === "TOOL"));
  expect((await spoken()).find(({ role }) => role === "TOOL")!.content).toBe("Order 7 is on its way.");
});

test("new headers of a server that moves between two ACTIONs of a turn never go to its former address", async () => {
  const assistantId = await newAssistant(running.api);
  const allowedTools = ["find_order", "cancel_order"];
  const cancel: OfferedTool = { name: "cancel_order", run: () => saying("Cancelled.") };
  const next = await toolServer(FIND, cancel);
  const move = async () => {
    const headers = { "x-token": "of-the-new-server" };
    await set(assistantId, { name: "shop", url: next.url, headers, allowedTools });
    return saying("Found.");
  };
  const former = await toolServer({ name: "find_order", run: move }, cancel);
  await set(assistantId, { name: "shop", url: former.url, allowedTools });
  const { workflowId } = await newFlow(
    running.api,
    {
      start: { type: "START" },
      look: { type: "ACTION", assistantId, functionName: "shop_find_order" },
      cancel: { type: "ACTION", assistantId, functionName: "shop_cancel_order" },
      talk: { type: "PROMPT", assistantId },
      end: { type: "END" },
    },
    [
      ["start", "look"],
      ["look", "cancel"],
      ["cancel", "talk"],
      ["talk", "end", { kind: "MODEL", description: "Goodbye." }],
    ],
  );
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  await running.api.gql(start, { input: { workflowId } });
  await until(() => former.calls().length + next.calls().length === 2);
  expect(former.asked.filter(({ headers }) => headers["x-token"] !== undefined)).toEqual([]);
  expect(next.calls()).toMatchObject([{ "x-token": "of-the-new-server" }]);
});
