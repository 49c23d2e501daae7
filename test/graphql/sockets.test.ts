import { afterEach, describe, expect, test } from "@jest/globals";
import { startApp, useApp } from "../support/app";
import { withoutId } from "../support/errors";
import { quietAssistant, newChat, say, UNKNOWN_ID } from "../support/factories";
import { Subscriber } from "../support/subscriber";
import { until } from "../support/until";

const running = useApp();
let open: Subscriber[] = [];

afterEach(async () => {
  await Promise.all(open.map((subscriber) => subscriber.close()));
  open = [];
});

function subscriber(credential: Record<string, unknown>): Subscriber {
  const made = new Subscriber(running.url, credential);
  open.push(made);
  return made;
}

const chatOf = async (api = running.api) => newChat(api, await quietAssistant(api));
/** Starts a chat with one message. @returns both ids: a subscription after this message misses nothing */
async function begun() {
  const chat = await chatOf();
  return [chat, await say(running.api, chat, "first")] as const;
}
const KEYS = "/rest/v1/organization/keys";
const withoutRequestId = (errors: unknown) => JSON.stringify(errors).replace(/"requestId":"[^"]+"/, "");
const code = (errors: unknown) => (errors as { extensions?: { code?: string } }[])[0]?.extensions?.code;

test("a server that stops serves its sockets until proxies have noticed, and then closes them", async () => {
  const stopping = await startApp(running.database, { SHUTDOWN_DELAY_SECONDS: "5" });
  const [chat, first] = await begun();
  const socket = new Subscriber(stopping.url, { "X-API-Key": running.secretKey });
  open.push(socket);
  void socket.watch(chat, first);
  await say(running.api, chat, "before");
  await socket.received(1);
  const stopped = stopping.stop();
  await until(async () => (await stopping.api.request("GET", "/health/ready")).status === 503);
  await say(running.api, chat, "meanwhile");
  await socket.received(2);
  await stopped;
  expect((await socket.closed).code).toBe(1001);
});

describe("a WebSocket", () => {
  test.each([
    ["no credential", {}],
    ["an empty key", { "X-API-Key": "" }],
    ["an unknown key", { "X-API-Key": "unknown" }],
    ["a broken token", { Authorization: "Bearer x.y.z" }],
    ["a key that is not text", { "X-API-Key": { key: 1 } }],
  ])("with %s is closed as forbidden", async (_what, credential) => {
    const made = subscriber(credential);
    void made.watch(await chatOf());
    expect((await made.closed).code).toBe(4403);
    expect(made.events).toEqual([]);
  });

  test.each([
    ["an unknown key", { "X-API-Key": `parley_sk_${"a".repeat(36)}` }],
    ["a mistyped key", { "X-API-Key": "parley_sk_a" }],
    ["a key with the word Bearer", { "X-API-Key": "Bearer parley_sk_a" }],
    ["a token as a key", { "X-API-Key": "a.b.c" }],
    ["the id of a record as a key", { "X-API-Key": UNKNOWN_ID }],
    ["a key as a token", { Authorization: "Bearer parley_sk_a" }],
    ["a key without the word Bearer", { Authorization: "parley_sk_a" }],
    ["a broken token", { Authorization: "Bearer x.y.z" }],
    ["a token without three parts", { Authorization: "Bearer x" }],
  ])("with %s is closed with the reason that HTTP gives", async (_what, credential) => {
    const made = subscriber(credential);
    void made.watch(UNKNOWN_ID);
    const { code, reason } = await made.closed;
    const { status, body } = await running.api.as(credential).request("POST", "/graphql", { query: "{ a }" });
    expect([code, status]).toEqual([4403, 401]);
    expect(reason).toMatch(/^.{20,}\.$/);
    // A reason has at most 123 bytes: whole sentences are left out.
    expect(body.message.startsWith(reason)).toBe(true);
    expect(reason === body.message || body.message.length > 123).toBe(true);
  });

  test.each([
    ["a key", () => ({ "X-API-Key": running.secretKey })],
    ["a key under a name in lower case", () => ({ "x-api-key": running.secretKey })],
    [
      "a token",
      async () => ({
        authorization: `Bearer ${(await running.api.post("/rest/v1/organization/token", {}, 200)).token}`,
      }),
    ],
  ])("accepts %s", async (_what, credential) => {
    const [chat, first] = await begun();
    const made = subscriber(await credential());
    void made.watch(chat, first);
    await say(running.api, chat, "hello");
    expect((await made.received(1))[0]!.message!.content).toBe("hello");
  });

  test("cannot subscribe to chats with a PUBLIC key or a user's token", async () => {
    const chat = await chatOf();
    const { token } = await running.api.post("/rest/v1/organization/token", { userId: "u" }, 200);
    for (const credential of [{ "X-API-Key": running.publicKey }, { Authorization: `Bearer ${token}` }])
      expect(code(await subscriber(credential).watch(chat))).toBe("FORBIDDEN");
  });

  test("reports an unknown chat and another organization's with the same error", async () => {
    const { api: other } = await running.otherOrganization();
    const theirs = await chatOf(other);
    const errors = [];
    for (const chat of [UNKNOWN_ID, theirs])
      errors.push(await subscriber({ "X-API-Key": running.secretKey }).watch(chat));
    expect(code(errors[0])).toBe("CHAT_NOT_FOUND");
    const [unknown, foreign] = errors.map(withoutRequestId);
    expect(withoutId(foreign, theirs)).toEqual(withoutId(unknown, UNKNOWN_ID));
  });

  test.each([
    ["a query", "{ assistants { data { id } } }"],
    ["a mutation", 'mutation { createAssistant(input: { name: "By socket" }) { id } }'],
  ])("does not run %s", async (_what, query) => {
    const before = (await running.api.get("/rest/v1/assistants", 200)).meta;
    const told: unknown[] = [];
    const errors = await subscriber({ "X-API-Key": running.secretKey }).run(query, {}, (data) =>
      told.push(data),
    );
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining("Only subscriptions") }),
    ]);
    expect(told).toEqual([]);
    expect((await running.api.get("/rest/v1/assistants", 200)).meta).toEqual(before);
  });

  test.each([
    ["text that is not a document", "subscription {", /Syntax Error/],
    ["an unknown field", "subscription { nothing }", /Cannot query field/],
  ])("answers %s with an error and stays open", async (_what, query, message) => {
    const [chat, first] = await begun();
    const made = subscriber({ "X-API-Key": running.secretKey });
    void made.watch(chat, first);
    const errors = await made.run(query, {}, () => undefined);
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(message) })]);
    await say(running.api, chat, "still there");
    expect((await made.received(1))[0]!.message!.content).toBe("still there");
  });
});

describe("a WebSocket is closed", () => {
  const follow = async (credential: Record<string, unknown>) => {
    const [chat, first] = await begun();
    const made = subscriber(credential);
    void made.watch(chat, first);
    await say(running.api, chat, "hello");
    await made.received(1);
    return { made, chat };
  };

  test.each(["PATCH", "DELETE"])("when its key changes by %s", async (method) => {
    const { id, value } = await running.api.post(KEYS, {}, 200);
    const { made, chat } = await follow({ "X-API-Key": value });
    await running.api.request(
      method,
      `${KEYS}/${id}`,
      method === "PATCH" ? { status: "INACTIVE" } : undefined,
    );
    expect((await made.closed).code).toBe(4403);
    await say(running.api, chat, "unheard");
    expect(made.events).toHaveLength(1);
  });

  test("when the key of its token is deactivated", async () => {
    const { id, value } = await running.api.post(KEYS, {}, 200);
    const { token } = await running.api
      .as({ "X-API-Key": value })
      .post("/rest/v1/organization/token", {}, 200);
    const { made } = await follow({ Authorization: `Bearer ${token}` });
    await running.api.patch(`${KEYS}/${id}`, { status: "INACTIVE" }, 200);
    expect((await made.closed).code).toBe(4403);
  });

  test("when its key was deactivated while its server heard no notifications", async () => {
    const { id, value } = await running.api.post(KEYS, {}, 200);
    const { made } = await follow({ "X-API-Key": value });
    await running.database.query("update api_keys set status = 'INACTIVE' where id = $1", [id]);
    await running.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name like 'parley listener%' and datname = current_database()`,
    );
    expect((await made.closed).code).toBe(4403);
  });

  test("when its token expires", async () => {
    const { token } = await running.api.post("/rest/v1/organization/token", { expiresIn: "2s" }, 200);
    const { made } = await follow({ Authorization: `Bearer ${token}` });
    expect((await made.closed).code).toBe(4403);
  });

  test("but not when another key is deleted", async () => {
    const { id } = await running.api.post(KEYS, {}, 200);
    const { made, chat } = await follow({ "X-API-Key": running.secretKey });
    await running.api.delete(`${KEYS}/${id}`, 200);
    await say(running.api, chat, "still heard");
    expect((await made.received(2))[1]!.message!.content).toBe("still heard");
  });
});
