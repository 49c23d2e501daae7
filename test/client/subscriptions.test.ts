import { describe, expect, test } from "@jest/globals";
import { WebSocket } from "ws";
import { useApp } from "../support/app";
import { endChat, newAssistant, newChat, quietAssistant, say, UNKNOWN_ID } from "../support/factories";
import { proxyTo, type Proxy } from "../support/proxy";
import { afterTest } from "../support/server";
import type { Reply } from "../support/stub-model";
import { talk } from "../support/talk";
import { until } from "../support/until";
import { createClient } from "./client";

const running = useApp({ WORKER: "on", OUTBOUND_ALLOW: "127.0.0.0/8", SOCKETS_PER_ORGANIZATION: "4" });
const OVER_SSE = {};
const OVER_WEBSOCKETS = { subscriptions: "websocket", webSocket: WebSocket } as const;
const TRANSPORTS: [string, object][] = [
  ["SSE", OVER_SSE],
  ["WebSockets", OVER_WEBSOCKETS],
];

async function proxied(): Promise<Proxy> {
  const proxy = await proxyTo(running.url);
  afterTest(() => proxy.stop());
  return proxy;
}
const rootOf = (proxy: Proxy) => proxy.url.replace(/\/$/, "");

describe.each(TRANSPORTS)("over %s, a subscription", (_name, transport) => {
  const client = (url = running.url, options: object = {}) =>
    createClient({ url, key: running.secretKey, ...transport, ...options });
  const newQuietChat = async () => newChat(running.api, await quietAssistant(running.api));

  test("misses nothing and repeats nothing when its connection breaks, and ends with the chat", async () => {
    const proxy = await proxied();
    const id = await newQuietChat();
    const heard: (string | null)[] = [];
    const listening = (async () => {
      for await (const { message } of client(rootOf(proxy)).chat(id).events({ after: "0" }))
        if (message) heard.push(message.content);
    })();
    const said = Array.from({ length: 12 }, (_, number) => `message ${number}`);
    for (const [number, content] of said.entries()) {
      if (number % 4 === 3) proxy.leave();
      await say(running.api, id, content);
      if (number % 4 === 0) {
        proxy.comeBack();
        await until(() => heard.includes(content));
      }
    }
    proxy.comeBack();
    await until(() => heard.length >= said.length);
    await endChat(running.api, id);
    await listening;
    expect(heard).toEqual(said);
  });

  test.each([
    ["an unknown chat", { chatId: UNKNOWN_ID }, "CHAT_NOT_FOUND", {}],
    ["a wrong variable", { chatId: 1.5 }, "BAD_USER_INPUT", {}],
    ["a wrong key", { chatId: UNKNOWN_ID }, "UNAUTHENTICATED", { key: "wrong" }],
  ])("is refused for %s, once and for all", async (_name, variables, code, options) => {
    const document = "subscription ($chatId: ID!) { chatEvents(chatId: $chatId) { id } }";
    const results = client(running.url, options).subscribe(document, variables);
    await expect(results.next()).rejects.toMatchObject({ name: "ParleyError", code });
    expect(await results.next()).toEqual({ done: true, value: undefined });
  });

  test("goes on with a new token when its token has expired", async () => {
    const id = await newQuietChat();
    let asked = 0;
    const token = async (): Promise<string> => {
      const expiresIn = asked++ === 0 ? "2s" : "1h";
      return (await running.api.post("/rest/v1/organization/token", { expiresIn }, 200)).token as string;
    };
    const events = client(running.url, { key: undefined, token }).chat(id).events({ after: "0" });
    const messages = (async function* () {
      for await (const { message } of events) if (message) yield message.content;
    })();
    await say(running.api, id, "first");
    expect((await messages.next()).value).toBe("first");
    const second = messages.next();
    await until(() => asked === 2);
    await say(running.api, id, "second");
    expect((await second).value).toBe("second");
    await messages.return();
  });

  test("takes none of the organization's connections any more after the reader has stopped or aborted", async () => {
    const id = await newQuietChat();
    for (let times = 0; times < 3; times++) {
      const stop = new AbortController();
      const aborted = client().chat(id).events({ after: "0", signal: stop.signal });
      const stopped = client().chat(id).events({ after: "0" });
      const first = [aborted.next(), stopped.next()];
      await say(running.api, id, "hello");
      await Promise.all(first);
      stop.abort(new Error("enough"));
      const rest = (async () => {
        for await (const _event of aborted);
      })();
      await expect(rest).rejects.toThrow("enough");
      await stopped.return();
    }
  });

  test("gives up if the service stays away, with retries: 0 at once", async () => {
    const proxy = await proxied();
    proxy.leave();
    const events = client(rootOf(proxy), { retries: 0 }).chat(UNKNOWN_ID).events();
    await expect(events.next()).rejects.toMatchObject({ code: "NETWORK" });
  });
});

describe.each(TRANSPORTS)("over %s, an answer", (_name, transport) => {
  const client = (options: object = {}) =>
    createClient({ url: running.url, key: running.secretKey, ...transport, ...options });
  async function answerTo(content: string, ...replies: Reply[]) {
    const { chatId, model, answered } = await talk(running, replies);
    afterTest(async () => {
      await answered();
      await model.stop();
    });
    const parts: string[] = [];
    for await (const part of client().chat(chatId).send(content))
      parts.push(part.type === "message" ? `${part.message.role} ${part.message.content}` : part.type);
    return { parts, chatId };
  }

  test("ends with the message that is stored", async () => {
    const { parts } = await answerTo("When do you open?", { text: ["At ", "nine."] });
    expect(parts.at(-1)).toBe("ASSISTANT At nine.");
    expect(parts.filter((part) => part.startsWith("ASSISTANT"))).toHaveLength(1);
  });

  test("says that it starts over, and still comes, when the model fails in between", async () => {
    const { parts } = await answerTo("Hello?", { half: "At" }, { text: ["At nine."] });
    expect(parts.at(-1)).toMatch(/^ASSISTANT ./);
    expect(parts).toContain("reset");
  });

  test("is an error if the chat has ended", async () => {
    const id = await newChat(running.api, await newAssistant(running.api));
    await endChat(running.api, id);
    await expect(client().chat(id).send("Hello?").next()).rejects.toMatchObject({ code: "CHAT_ENDED" });
  });

  test("comes as a whole if its events cannot be read", async () => {
    const { chatId, model, answered } = await talk(running, [{ text: ["At nine."] }]);
    afterTest(async () => {
      await answered();
      await model.stop();
    });
    const proxy = await proxied();
    const parts: unknown[] = [];
    const broken = createClient({ url: rootOf(proxy), key: running.secretKey, ...transport });
    for await (const part of broken.chat(chatId).send("Hello?")) {
      if (parts.length === 0) proxy.leave();
      setTimeout(() => proxy.comeBack(), 100);
      parts.push(part.type === "message" ? part.message.content : part.type);
    }
    expect(parts.at(-1)).toBe("At nine.");
  });
});
