import { afterEach, describe, expect, test } from "@jest/globals";
import { createClient, type Client } from "graphql-sse";
import { startApp, useApp } from "../support/app";
import { newAssistant, newChat, quietAssistant, say } from "../support/factories";
import { until } from "../support/until";

const MOST = 4;
const running = useApp({
  TRUST_PROXY: "127.0.0.1",
  SOCKETS_PER_ADDRESS: String(MOST),
  SOCKETS_PER_ORGANIZATION: String(MOST + 1),
});

const EVENTS = `subscription ($chatId: ID!, $after: ID) {
  chatEvents(chatId: $chatId, after: $after) { id name message { content } } }`;
const FIRST = `subscription { organizationEvents { id } }`;

let clients: Client[] = [];
afterEach(() => {
  for (const client of clients) client.dispose();
  clients = [];
});

interface ChatEvent {
  readonly id: string;
  readonly name: string;
  readonly message: { readonly content: string } | null;
}

interface Followed {
  readonly data: { readonly chatEvents: ChatEvent }[];
  /** Errors of the operation, or the failed request; undefined if it completed. */
  readonly end: Promise<unknown>;
  readonly stop: () => void;
}

/** Follows a subscription with the client of graphql-sse, as a front end does. */
function follow(
  query: string,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = { "X-API-Key": running.secretKey },
): Followed {
  const client = createClient({ url: `${running.url}/graphql`, headers, retryAttempts: 0 });
  clients.push(client);
  const data: Followed["data"] = [];
  let stop = () => undefined as void;
  const end = new Promise((resolve) => {
    stop = client.subscribe(
      { query, variables },
      {
        next: (result) =>
          result.errors ? resolve(result.errors) : data.push(result.data as Followed["data"][number]),
        error: resolve,
        complete: () => resolve(undefined),
      },
    );
  });
  return { data, end, stop };
}

const chatWithMessage = async () => {
  const chat = await newChat(running.api, await quietAssistant(running.api));
  return { chat, first: await say(running.api, chat, "first") };
};

/** The raw answer to a subscription. */
const raw = (body: unknown, headers: Record<string, string> = {}, signal: AbortSignal | null = null) =>
  fetch(`${running.url}/graphql`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "text/event-stream",
      "X-API-Key": running.secretKey,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal,
  });

describe("a subscription over Server-Sent Events", () => {
  test("delivers the events of a chat in order, from the one that it names", async () => {
    const { chat, first } = await chatWithMessage();
    const following = follow(EVENTS, { chatId: chat, after: first });
    for (const text of ["one", "two\nlines", "three"]) await say(running.api, chat, text);
    await until(() => following.data.length === 3);
    expect(following.data.map(({ chatEvents }) => chatEvents.message?.content)).toEqual([
      "one",
      "two\nlines",
      "three",
    ]);
    const again = follow(EVENTS, { chatId: chat, after: following.data[1]!.chatEvents.id });
    await until(() => again.data.length === 1);
    expect(again.data).toEqual(following.data.slice(2));
  });

  test("completes when the chat has ended", async () => {
    const { chat, first } = await chatWithMessage();
    const following = follow(EVENTS, { chatId: chat, after: first });
    await running.api.post(`/rest/v1/ai-chats/${chat}/end`, {}, 200);
    expect(await following.end).toBeUndefined();
    expect(following.data.at(-1)?.chatEvents).toMatchObject({ name: "status-changed", message: null });
  });

  test("is answered at once with a stream that proxies neither buffer nor keep", async () => {
    const abort = new AbortController();
    const { status, headers, body } = await raw(
      { query: FIRST },
      { "X-Forwarded-For": "203.0.113.7" },
      abort.signal,
    );
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-store, no-transform");
    expect(headers.get("x-accel-buffering")).toBe("no");
    expect(headers.get("content-encoding")).toBeNull();
    expect(headers.get("ratelimit")).toMatch(/r=/);
    const { value } = await body!.getReader().read();
    expect(new TextDecoder().decode(value)).toBe(":\n\n");
    abort.abort();
  });

  test("runs by GET, too", async () => {
    const { chat, first } = await chatWithMessage();
    await say(running.api, chat, "by GET");
    await running.api.post(`/rest/v1/ai-chats/${chat}/end`, {}, 200);
    const variables = JSON.stringify({ chatId: chat, after: first });
    const query = new URLSearchParams({ query: EVENTS, variables }).toString();
    const answer = await fetch(`${running.url}/graphql?${query}`, {
      headers: { Accept: "text/event-stream", "X-API-Key": running.secretKey },
    });
    const text = await answer.text();
    expect(text).toMatch(/^:\n\nevent: next\ndata: \{"data":.*by GET/);
    expect(text).toMatch(/event: complete\ndata:\n\n$/);
  });
});

describe("errors", () => {
  const codeOf = async ({ end }: Followed) => {
    const [error] = (await end) as { extensions: { code: string; requestId: string } }[];
    expect(error!.extensions.requestId).toMatch(/\w/);
    return error!.extensions.code;
  };

  test("of the document, its variables and its cost are those over the WebSocket", async () => {
    expect(await codeOf(follow("subscription { nothing }"))).toBe("GRAPHQL_VALIDATION_FAILED");
    expect(await codeOf(follow("subscription {"))).toBe("GRAPHQL_PARSE_FAILED");
    expect(await codeOf(follow(EVENTS, { chatId: null }))).toBe("BAD_USER_INPUT");
    expect(await codeOf(follow("{ organization { id } }"))).toBe("BAD_USER_INPUT");
  });

  test("of an unknown chat, and of another organization's, are the same", async () => {
    const { chat } = await chatWithMessage();
    const other = await running.otherOrganization();
    expect(await codeOf(follow(EVENTS, { chatId: "unknown" }))).toBe("CHAT_NOT_FOUND");
    expect(await codeOf(follow(EVENTS, { chatId: chat }, { "X-API-Key": other.secretKey }))).toBe(
      "CHAT_NOT_FOUND",
    );
  });

  test("of the credential are statuses with a body in JSON", async () => {
    const wrong = await raw({ query: FIRST }, { "X-API-Key": "wrong" });
    expect(wrong.status).toBe(401);
    expect(await wrong.json()).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(await codeOf(follow(FIRST, {}, {}))).toBe("UNAUTHENTICATED");
    expect(await codeOf(follow(FIRST, {}, { "X-API-Key": running.publicKey }))).toBe("FORBIDDEN");
  });

  test.each([
    ["query", {}],
    ["query", { query: 7 }],
    ["variables", { query: FIRST, variables: [] }],
    ["extensions", { query: FIRST, extensions: "no" }],
  ])("of a malformed request name %s", async (path, body) => {
    const answer = await raw(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path }] });
  });
});

describe("a stream ends", () => {
  test("with UNAUTHENTICATED when its key is deactivated", async () => {
    const key = await running.api.post(
      "/rest/v1/organization/keys",
      { type: "SECRET", status: "ACTIVE" },
      200,
    );
    const following = follow(FIRST, {}, { "X-API-Key": key.value });
    await newAssistant(running.api);
    const { chat } = await chatWithMessage();
    expect(chat).toMatch(/\w/);
    await until(() => following.data.length > 0);
    await running.api.patch(`/rest/v1/organization/keys/${key.id}`, { status: "INACTIVE" }, 200);
    expect(await following.end).toMatchObject([{ extensions: { code: "UNAUTHENTICATED" } }]);
  });

  test("with UNAUTHENTICATED when its key is deactivated before its body has arrived", async () => {
    const keys = "/rest/v1/organization/keys";
    const key = await running.api.post(keys, { type: "SECRET", status: "ACTIVE" }, 200);
    const isAccepted = async () => {
      const { key: used } = await running.api.gql("query ($id: ID!) { key(id: $id) { lastUsedAt } }", {
        id: key.id,
      });
      return used.lastUsedAt !== null;
    };
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const answer = fetch(`${running.url}/graphql`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "text/event-stream",
        "X-API-Key": key.value,
      },
      body: body.readable,
      duplex: "half",
    } as RequestInit);
    const writer = body.writable.getWriter();
    await writer.write(Buffer.from('{"query":'));
    await until(isAccepted);
    await running.api.patch(`${keys}/${key.id}`, { status: "INACTIVE" }, 200);
    await writer.write(Buffer.from(`${JSON.stringify(FIRST)}}`));
    await writer.close();
    expect(await (await answer).text()).toMatch(/"code":"UNAUTHENTICATED".*event: complete/s);
  });

  test("at the limits of open streams with 429, and the next one may open after one has closed", async () => {
    const aborts = Array.from({ length: MOST }, () => new AbortController());
    const from = { "X-Forwarded-For": "203.0.113.9" };
    const open = (abort?: AbortController) => raw({ query: FIRST }, from, abort?.signal ?? null);
    const answers = await Promise.all(aborts.map(open));
    expect(answers.map(({ status }) => status)).toEqual(aborts.map(() => 200));
    const refused = await open();
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "1"]);
    expect(await refused.json()).toMatchObject({ code: "RATE_LIMITED" });
    aborts.forEach((abort) => abort.abort());
    await until(async () => {
      const abort = new AbortController();
      const { status } = await open(abort);
      abort.abort();
      return status === 200;
    });
  });

  test('when its server shuts down, without "complete", so that the client connects again', async () => {
    const server = await startApp(running.database, { DATA_DIR: running.dataDir });
    const answer = await fetch(`${server.url}/graphql`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "text/event-stream",
        "X-API-Key": running.secretKey,
      },
      body: JSON.stringify({ query: FIRST }),
    });
    expect(answer.status).toBe(200);
    const text = answer.text().catch(() => "cut off");
    await server.stop();
    expect(await text).toBe("cut off");
  });
});
