import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { WebSocket } from "ws";
import { useApp } from "../support/app";
import { ended, eventsOf, FAST, NUMBER, place, speaker } from "../support/calls";
import { newAssistant } from "../support/factories";

const running = useApp(FAST);

/** Texts of a function that JavaScript would change. */
const ITEMS: readonly (readonly [what: string, text: string])[] = [
  ["integer-like keys behind others", '{"name":"f","b":1,"2":2,"1":1,"a":{"9":0,"x":0,"8":[{"c":0,"0":1}]}}'],
  [
    "integers beyond 2^53",
    '{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"number","maximum":9007199254740993}}}}',
  ],
  ["very large integers", '{"name":"f","n":[123456789012345678901234567890,-98765432109876543210]}'],
  ["numbers in other forms", '{"name":"f","n":[1.0,1e5,1E+2,-0,0.10,1.5]}'],
  ["escapes", '{"name":"f","\\u0032":"\\u00e9\\/\\ud83d\\ude00","n":9007199254740993}'],
  ["texts that look like all of it", '{"name":"f","x":"\\"1\\": 9007199254740993 \\\\","2":"json:"}'],
  ["nothing of it", '{"name":"f","x":{"y":[true,null,"é"]}}'],
];
const KINDS = ["voice", "sms", "chat"] as const;
const typeOf = (kind: string) => `${kind[0]!.toUpperCase()}${kind.slice(1)}`;
const all = `[${ITEMS.map(([, text]) => text).join(",")}]`;

async function raw(path: string, method: string, body?: string): Promise<string> {
  const headers = { "X-API-Key": running.secretKey, "Content-Type": "application/json" };
  const response = await fetch(running.url + path, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.any(String)]);
  return text;
}
const gql = (query: string, variables: string) =>
  raw("/graphql", "POST", `{"query":${JSON.stringify(query)},"variables":${variables}}`);
const mutation = (kind: string, argument: string, declared: string) =>
  `mutation (${declared}) { update${typeOf(kind)}Configuration(assistantId: $id, input: ${argument}) { functions } }`;
const inputOf = (kind: string) => `Update${typeOf(kind)}ConfigurationInput!`;

/** Requests that store functions, given as text. Each returns the answer. */
const STORING_REQUESTS: Readonly<
  Record<string, (id: string, kind: string, functions: string) => Promise<string>>
> = {
  "a REST body": (id, kind, functions) =>
    raw(`/rest/v1/assistants/${id}/${kind}`, "PATCH", `{"functions": ${functions}}`),
  "a REST body with white space": (id, kind, functions) =>
    raw(`/rest/v1/assistants/${id}/${kind}`, "PATCH", `{ "functions" :\n\t[ ${functions.slice(1, -1)} ] }`),
  "a GraphQL variable that is the input": (id, kind, functions) =>
    gql(
      mutation(kind, "$input", `$id: ID!, $input: ${inputOf(kind)}`),
      `{"id":"${id}","input":{"functions":${functions}}}`,
    ),
  "a variable of GraphQL that is the list": (id, kind, functions) =>
    gql(
      mutation(kind, "{ functions: $list }", "$id: ID!, $list: [JSONObject!]"),
      `{"id":"${id}","list":${functions}}`,
    ),
  "variables of GraphQL that are items": (id, kind) =>
    gql(
      mutation(
        kind,
        `{ functions: [${ITEMS.map((_, at) => `$f${at}`).join(",")}] }`,
        `$id: ID!, ${ITEMS.map((_, at) => `$f${at}: JSONObject!`).join(",")}`,
      ),
      `{"id":"${id}",${ITEMS.map(([, text], at) => `"f${at}":${text}`).join(",")}}`,
    ),
  "a document": (id, kind, functions) =>
    gql(
      `mutation ($id: ID!, $input: AssistantDraftInput!) {
        updateAssistantDocument(assistantId: $id, input: $input) { ${kind} { functions } } }`,
      `{"id":"${id}","input":{"${kind}":{"functions":${functions}}}}`,
    ),
  "a draft that is published": async (id, kind, functions) => {
    const query = `mutation ($id: ID!, $input: AssistantDraftInput!) {
      saveAssistantDraft(assistantId: $id, input: $input) { document } }`;
    const draft = await gql(query, `{"id":"${id}","input":{"${kind}":{"functions":${functions}}}}`);
    expect(draft).toContain(`"functions":${functions}`);
    const publish = `mutation ($id: ID!) { publishAssistantDraft(assistantId: $id) { ${kind} { functions } } }`;
    return gql(publish, `{"id":"${id}"}`);
  },
  "a variable in a form": (id, kind, functions) =>
    form(
      `{"query":${JSON.stringify(mutation(kind, "$input", `$id: ID!, $input: ${inputOf(kind)}`))},
        "variables":{"id":"${id}","input":{"functions":${functions}}}}`,
    ),
  "a variable beside a file in a form": (id, kind, functions) => {
    const update = mutation(kind, "{ functions: $list }", "$id: ID!, $list: [JSONObject!], $file: Upload!");
    const query = update.replace(/ }$/, " uploadFile(file: $file) { id } }");
    const variables = `{"file":null,"id":"${id}","list":${functions}}`;
    return form(`{"query":${JSON.stringify(query)},"variables":${variables}}`, '{"0":["variables.file"]}');
  },
  "a compressed body of GraphQL": async (id, kind, functions) => {
    const query = JSON.stringify(mutation(kind, "$input", `$id: ID!, $input: ${inputOf(kind)}`));
    const body = gzipSync(`{"query":${query},"variables":{"id":"${id}","input":{"functions":${functions}}}}`);
    const headers = {
      "X-API-Key": running.secretKey,
      "Content-Type": "application/json",
      "Content-Encoding": "gzip",
    };
    return (await fetch(`${running.url}/graphql`, { method: "POST", headers, body })).text();
  },
};

/** Builds a form with the operations as given, and a file. */
async function form(operations: string, map = "{}"): Promise<string> {
  const body = new FormData();
  body.set("operations", operations);
  body.set("map", map);
  if (map !== "{}") body.set("0", new Blob(["Parking is free."]), "parking.txt");
  const headers = { "X-API-Key": running.secretKey };
  const response = await fetch(`${running.url}/graphql`, { method: "POST", headers, body });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.not.stringContaining('"errors"')]);
  return text;
}

async function expectExact(id: string, kind: string, functions: string): Promise<void> {
  expect(await raw(`/rest/v1/assistants/${id}/${kind}`, "GET")).toContain(`"functions":${functions}`);
  const query = `query ($id: ID!) { assistant(id: $id) { ${kind} { functions } } }`;
  expect(await gql(query, `{"id":"${id}"}`)).toContain(`"functions":${functions}`);
}

describe.each(KINDS)("functions of the %s configuration are returned exactly as sent", (kind) => {
  test.each(Object.keys(STORING_REQUESTS))("in %s", async (way) => {
    const id = await newAssistant(running.api);
    expect(await STORING_REQUESTS[way]!(id, kind, all)).toContain(`"functions":${all}`);
    await expectExact(id, kind, all);
  });

  test("in a GraphQL literal, alone and around a variable", async () => {
    const id = await newAssistant(running.api);
    const literal = '[{ name: "f", n: [9007199254740993, 1.0, -0, 1e5], at: $at, list: [$at, RED] }]';
    const at = '{"b":1,"2":12345678901234567890}';
    await gql(
      mutation(kind, `{ functions: ${literal} }`, "$id: ID!, $at: JSONObject"),
      `{"id":"${id}","at":${at}}`,
    );
    const sent = `[{"name":"f","n":[9007199254740993,1.0,-0,1e5],"at":${at},"list":[${at},"RED"]}]`;
    await expectExact(id, kind, sent);
  });

  test("including those of a duplicate, and after another field was changed", async () => {
    const id = await newAssistant(running.api);
    await STORING_REQUESTS["a REST body"]!(id, kind, all);
    await raw(`/rest/v1/assistants/${id}/${kind}`, "PATCH", '{"prompt":"Other."}');
    await expectExact(id, kind, all);
    const copy = JSON.parse(await raw(`/rest/v1/assistants/duplicate/${id}`, "POST")) as { id: string };
    await expectExact(copy.id, kind, all);
  });
});

/** Frames of a subscription until its end, as text. */
async function framesOf(query: string, variables: object): Promise<string[]> {
  const socket = new WebSocket(`${running.url.replace("http", "ws")}/graphql`, "graphql-transport-ws");
  const frames: string[] = [];
  const send = (message: object) => socket.send(JSON.stringify(message));
  socket.on("open", () => send({ type: "connection_init", payload: { "X-API-Key": running.secretKey } }));
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject).on("close", resolve);
    socket.on("message", (data: Buffer) => {
      const text = data.toString("utf8");
      const { type } = JSON.parse(text) as { type: string };
      if (type === "connection_ack") send({ id: "1", type: "subscribe", payload: { query, variables } });
      if (type === "next") frames.push(text);
      if (type === "complete" || type === "error") socket.close();
    });
  });
  return frames;
}

test("functions are returned as sent over a WebSocket too", async () => {
  const assistantId = await speaker(running.api, { initialMessage: "" });
  for (const kind of KINDS) await STORING_REQUESTS["a REST body"]!(assistantId, kind, all);
  const callId = await place(running.api, assistantId, NUMBER.refused);
  await ended(running.api, callId);
  const [start] = await eventsOf(running.api, callId);
  const fields = KINDS.map((kind) => `${kind} { functions }`).join(" ");
  const query = `subscription ($callId: ID, $after: ID) {
    callEvents(callId: $callId, after: $after) { call { assistant { ${fields} } } } }`;
  const frames = await framesOf(query, { callId, after: start!.id });
  expect(frames.length).toBeGreaterThan(0);
  for (const frame of frames)
    for (const kind of KINDS) expect(frame).toContain(`"${kind}":{"functions":${all}}`);
});

test.each(["updateChatConfiguration", "updateAssistantDocument"])(
  "functions are stored as an agent sends them to the tool %s",
  async (name) => {
    const id = await newAssistant(running.api);
    const functions = `{"functions":${all}}`;
    const input = name === "updateChatConfiguration" ? functions : `{"chat":${functions}}`;
    const params = `{"name":"${name}","arguments":{"assistantId":"${id}","input":${input}}}`;
    const response = await fetch(`${running.url}/mcp`, {
      method: "POST",
      headers: {
        ...{ "X-API-Key": running.secretKey, "Content-Type": "application/json" },
        Accept: "application/json, text/event-stream",
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
    });
    expect(await response.json()).toMatchObject({ result: { content: [{ type: "text" }] } });
    await expectExact(id, "chat", all);
  },
);

describe("a function stored as sent", () => {
  const NUMBER = '"n":9007199254740993';
  const patch = async (text: string, status: number) => {
    const id = await newAssistant(running.api);
    const path = `/rest/v1/assistants/${id}/chat`;
    const headers = { "X-API-Key": running.secretKey, "Content-Type": "application/json" };
    const response = await fetch(running.url + path, { method: "PATCH", headers, body: text });
    const answer = await response.text();
    expect([response.status, answer]).toEqual([status, expect.any(String)]);
    return answer;
  };

  test("loses only its insignificant white space", async () => {
    const answer = await patch('{"functions":[{ "b" : " x " ,\r\n\t"1": [ ] , "n": [ 1.0 , { } ] }]}', 200);
    expect(answer).toContain('"functions":[{"b":" x ","1":[],"n":[1.0,{}]}]');
  });

  test.each([
    ["U+0000", String.raw`"x":"\u0000"`],
    ["a lone surrogate", String.raw`"x":"\ud800"`],
    ["a key __proto__", '"__proto__":1'],
    ["33 levels", `"x":${"[".repeat(32)}${"]".repeat(32)}`],
    ["a number beyond range", '"x":1e400'],
  ])("is refused with %s like any other", async (_what, member) => {
    const answer = await patch(`{"functions":[{${NUMBER},${member}}]}`, 400);
    expect(answer).toContain('"path":"functions.0"');
  });

  test.each([
    ["U+0000", String.raw`"\u0000"`],
    ["100,000 levels", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ])("cannot hide %s behind a duplicate key, because the last one counts", async (_what, hidden) => {
    const answer = await patch(`{"functions":[{"name":"f","x":${hidden},"x":[1]}]}`, 200);
    expect(answer).toContain('"functions":[{"name":"f","x":[1]}]');
  });

  test("is taken from the last of duplicate lists", async () => {
    const lists = `"functions":[{"a":1.0},{"b":1.0}],"functions":[{"c":2.0}]`;
    expect(await patch(`{${lists}}`, 200)).toContain('"functions":[{"c":2.0}]');
  });

  test("may be mixed with functions that need no verbatim storage", async () => {
    const answer = await patch(`{"functions":[{"a":1},{${NUMBER}},{"b":"\\\\"}]}`, 200);
    expect(answer).toContain(`"functions":[{"a":1},{${NUMBER}},{"b":"\\\\"}]`);
  });
});
