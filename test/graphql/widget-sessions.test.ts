import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { callOf } from "../support/calls";
import { newAssistant, quietAssistant, UNKNOWN_ID } from "../support/factories";
import { closeRaw, rawRequest } from "../support/raw";
import { until } from "../support/until";
import { Subscriber } from "../support/subscriber";
import { startSession, VisitorClient } from "../support/visitor";

const running = useApp({ TRUST_PROXY: "127.0.0.1", RATE_LIMIT_VISITOR: "6" });
const brief = useApp({ WORKER: "on", CALL_MAX_SECONDS: "1" });
const open: (VisitorClient | Subscriber)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
afterAll(closeRaw);

const KEYS = "/rest/v1/organization/keys";
const newKey = () => running.api.post(KEYS, { type: "PUBLIC" }, 200);
const EVENTS = "subscription ($id: ID!) { widgetChatEvents(chatId: $id, after: 0) { name } }";
const SESSION =
  "mutation ($input: WidgetSessionInput!) { startWidgetSession(input: $input) { token widget { name } } }";

/** Follows a chat until its socket is closed. */
async function follow(visitor: VisitorClient): Promise<Subscriber> {
  const { id } = await visitor.start();
  const subscriber = new Subscriber(running.url, { Authorization: `Bearer ${visitor.token}` });
  open.push(subscriber);
  await new Promise<void>((seen) => void subscriber.run(EVENTS, { id }, () => seen()));
  return subscriber;
}

describe("a session", () => {
  test("lasts an hour", async () => {
    const assistantId = await newAssistant(running.api);
    const before = Date.now();
    const { expiresAt } = await startSession(running.url, running.publicKey, { assistantId });
    const begun = new Date(expiresAt).getTime() - 3_600_000;
    expect(begun).toBeGreaterThan(before - 1_000); // tokens have whole seconds
    expect(begun).toBeLessThanOrEqual(Date.now());
  });

  test.each([
    ["is made inactive", "PATCH", { status: "INACTIVE" }],
    ["is deleted", "DELETE", undefined],
  ])("ends when its key %s, with its subscriptions", async (_how, method, body) => {
    const { id, value } = await newKey();
    const assistantId = await quietAssistant(running.api);
    const visitor = await VisitorClient.of(running.url, value, { assistantId });
    const subscriber = await follow(visitor);
    await running.api.request(method, `${KEYS}/${id}`, body);
    expect((await subscriber.closed).code).toBe(4403);
    expect((await visitor.api.gqlError("{ widgetChats { id } }")).extensions.code).toBe("UNAUTHENTICATED");
    const late = new Subscriber(running.url, { Authorization: `Bearer ${visitor.token}` });
    open.push(late);
    void late.run(EVENTS, { id: UNKNOWN_ID }, () => undefined);
    expect((await late.closed).code).toBe(4403);
  });

  test("can be renewed with another key of the organization after its own is deleted", async () => {
    const { id, value } = await newKey();
    const assistantId = await quietAssistant(running.api);
    const first = await startSession(running.url, value, { assistantId });
    const chat = await new VisitorClient(running.url, first.token).start();
    await running.api.delete(`${KEYS}/${id}`, 200);
    const input = { assistantId, visitorToken: first.visitorToken };
    const renewed = await VisitorClient.of(running.url, running.publicKey, input);
    expect(await renewed.chats()).toMatchObject([{ id: chat.id }]);
  });

  test("expires no later than the token that started it", async () => {
    const { token } = await running.api.post("/rest/v1/organization/token", { expiresIn: "60s" }, 200);
    const input = { assistantId: await newAssistant(running.api) };
    const { body } = await running.api
      .as({ Authorization: `Bearer ${token}` })
      .graphql(SESSION.replace("token widget", "token expiresAt widget"), { input });
    const left = new Date(body.data.startWidgetSession.expiresAt).getTime() - Date.now();
    expect(left).toBeLessThanOrEqual(60_000);
  });

  test("cannot be started by a session", async () => {
    const input = { assistantId: await newAssistant(running.api) };
    const visitor = await VisitorClient.of(running.url, running.publicKey, input);
    expect((await visitor.api.gqlError(SESSION, { input })).extensions.code).toBe("FORBIDDEN");
  });

  test("allows ten subscriptions per WebSocket", async () => {
    const assistantId = await quietAssistant(running.api);
    const visitor = await VisitorClient.of(running.url, running.publicKey, { assistantId });
    const { id } = await visitor.start();
    const subscriber = new Subscriber(running.url, { Authorization: `Bearer ${visitor.token}` });
    open.push(subscriber);
    for (let count = 0; count < 10; count++)
      await new Promise<void>((seen) => void subscriber.run(EVENTS, { id }, () => seen()));
    const errors = await subscriber.run(EVENTS, { id }, () => undefined);
    expect(errors).toMatchObject([{ extensions: { code: "RATE_LIMITED" } }]);
  });
});

describe("a call in the widget's page", () => {
  test("ends at the maximum duration of calls", async () => {
    const { api, url, publicKey } = brief;
    const visitor = await VisitorClient.of(url, publicKey, { assistantId: await quietAssistant(api) });
    const { id } = await visitor.start({ channel: "VOICE" });
    await until(async () => (await visitor.chat(id)).status === "ended");
    expect((await callOf(api, id)).endedReason).toBe("exceeded-max-duration");
  });
});

describe("the origins of an assistant", () => {
  const SET = `mutation ($id: ID!, $origins: [String!]!) {
    updateAllowedOrigins(assistantId: $id, origins: $origins) { allowedOrigins } }`;
  const allow = async (id: string, origins: string[]) =>
    (await running.api.gql(SET, { id, origins })).updateAllowedOrigins.allowedOrigins as string[];
  /** Starts a session from a page of an origin. @returns the answer */
  async function from(assistantId: string, headers: Record<string, string>) {
    const api = running.api.as({ "X-API-Key": running.publicKey, ...headers });
    const { body } = await api.graphql(SESSION, { input: { assistantId } });
    return body.errors ? body.errors[0].extensions.code : "begun";
  }

  test("are stored in the form that browsers use, each once", async () => {
    const id = await newAssistant(running.api);
    const given = [
      "HTTPS://Shop.Example",
      "https://shop.example:443/",
      "http://localhost:3000",
      "http://[::1]",
    ];
    const kept = ["https://shop.example", "http://localhost:3000", "http://[::1]"];
    expect(await allow(id, given)).toEqual(kept);
    const READ = "query ($id: ID!) { assistant(id: $id) { theme { allowedOrigins } } }";
    expect((await running.api.gql(READ, { id })).assistant.theme.allowedOrigins).toEqual(kept);
    expect(await running.api.get(`/rest/v1/assistants/${id}/theme`, 200)).toEqual({
      mode: "VOICE_AND_CHAT",
      theme: {},
    });
    expect(await allow(id, [])).toEqual([]);
  });

  test.each([
    "",
    "shop.example",
    "*",
    "https://*.shop.example",
    "ftp://shop.example",
    "https://shop.example/path",
    "https://shop.example?a",
    "https://a@shop.example",
    "https://shop.example; script-src *",
    "https://shop.example;script-src",
    "https://shop.example,https:",
    "https://shop.example https://other.example",
    "null",
    "javascript:alert(1)",
  ])("cannot be %j, which the error names", async (entry) => {
    const id = await newAssistant(running.api);
    const { extensions } = await running.api.gqlError(SET, { id, origins: ["https://a.example", entry] });
    expect(extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "origins.1" }] });
  });

  test("are limited to 50", async () => {
    const id = await newAssistant(running.api);
    const origins = Array.from({ length: 50 }, (_, n) => `https://${n}.example`);
    expect(await allow(id, origins)).toEqual(origins);
    const { extensions } = await running.api.gqlError(SET, {
      id,
      origins: [...origins, "https://x.example"],
    });
    expect(extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "origins" }] });
  });

  test("allow sessions of their pages and refuse those of others", async () => {
    const id = await newAssistant(running.api);
    await allow(id, ["https://shop.example", "http://localhost:3000"]);
    const allowed = ["https://shop.example", "http://localhost:3000", running.url];
    for (const origin of allowed) expect(await from(id, { Origin: origin })).toBe("begun");
    expect(await from(id, {})).toBe("begun");
    expect(await from(id, { Origin: "https://parley.example", "Sec-Fetch-Site": "same-origin" })).toBe(
      "begun",
    );
    const others = ["https://shop.example:8443", "http://shop.example", "https://evil.example", "null"];
    for (const origin of others)
      expect([origin, await from(id, { Origin: origin })]).toEqual([origin, "FORBIDDEN"]);
    await allow(id, []);
    expect(await from(id, { Origin: "https://evil.example" })).toBe("begun");
  });

  test("are copied when an assistant is duplicated, and empty for templates", async () => {
    const id = await newAssistant(running.api);
    await allow(id, ["https://shop.example"]);
    const THEME = "{ theme { allowedOrigins } }";
    const COPY = `mutation ($id: ID!) { duplicateAssistant(id: $id) ${THEME} }`;
    expect((await running.api.gql(COPY, { id })).duplicateAssistant.theme.allowedOrigins).toEqual([
      "https://shop.example",
    ]);
    const { assistantTemplates } = await running.api.gql(`{ assistantTemplates { data ${THEME} } }`);
    for (const { theme } of assistantTemplates.data) expect(theme.allowedOrigins).toEqual([]);
  });
});

describe("limits per minute", () => {
  let clients = 0;
  const newAddress = () => `203.0.113.${++clients}`;
  /** Runs an operation from an IP address. */
  const sent = (address: string, headers: Record<string, string>, query: string, variables: object) =>
    rawRequest(running.url, {
      method: "POST",
      path: "/graphql",
      headers: { "Content-Type": "application/json", "X-Forwarded-For": address, ...headers },
      body: JSON.stringify({ query, variables }),
    });
  const POST = "mutation ($input: WidgetMessageInput!) { postWidgetMessage(input: $input) { id } }";
  const CHAT = "mutation { startWidgetChat(input: {}) { id } }";
  const message = (chatId: string) => ({ input: { chatId, content: "Hello" } });
  async function visiting() {
    const assistantId = await quietAssistant(running.api);
    const visitor = await VisitorClient.of(running.url, running.publicKey, { assistantId });
    const { id: chatId } = await visitor.start();
    return { assistantId, chatId, headers: { Authorization: `Bearer ${visitor.token}` } };
  }

  test("allow a visitor so many messages from any address, then 429 until Retry-After, without affecting others", async () => {
    const { chatId, headers } = await visiting();
    for (let count = 0; count < 6; count++)
      expect((await sent(newAddress(), headers, POST, message(chatId))).status).toBe(200);
    const refused = await sent(newAddress(), headers, POST, message(chatId));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.headers["ratelimit-policy"]).toMatch(/^"visitor";q=6;w=60, /);
    expect(JSON.parse(refused.text)).toMatchObject({
      errors: [{ message: expect.stringContaining("Try again"), extensions: { code: "RATE_LIMITED" } }],
      data: { postWidgetMessage: null },
    });
    const other = `updateWidgetChat(input: { chatId: "${chatId}", metadata: {} }) { id }`;
    const both = POST.replace(/\}$/, `${other} }`);
    const partly = await sent(newAddress(), headers, both, message(chatId));
    expect([partly.status, JSON.parse(partly.text).data]).toEqual([
      200,
      { postWidgetMessage: null, updateWidgetChat: { id: chatId } },
    ]);
    expect((await sent(newAddress(), headers, "{ widgetChats { id } }", {})).status).toBe(200);
    const another = await visiting();
    expect((await sent(newAddress(), another.headers, POST, message(another.chatId))).status).toBe(200);
  });

  test("allow a visitor a third as many chats", async () => {
    const { headers } = await visiting();
    const statuses: number[] = [];
    for (let count = 0; count < 3; count++)
      statuses.push((await sent(newAddress(), headers, CHAT, {})).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test("allow an address ten times as much, sessions included", async () => {
    const { assistantId, chatId, headers } = await visiting();
    const address = newAddress();
    const begin = (from: string) =>
      sent(from, { "X-API-Key": running.publicKey }, SESSION, { input: { assistantId } });
    for (let count = 0; count < 20; count++) expect((await begin(address)).status).toBe(200);
    const refused = await begin(address);
    expect(refused.status).toBe(429);
    expect(refused.headers["ratelimit-policy"]).toMatch(/^"address";q=60;w=60, /);
    expect((await sent(address, headers, POST, message(chatId))).status).toBe(429);
    expect((await begin(newAddress())).status).toBe(200);
  });

  test("do not apply on this machine", async () => {
    const { chatId, headers } = await visiting();
    const api = running.api.as(headers);
    for (let count = 0; count < 20; count++) await api.gql(POST, message(chatId));
  });
});
