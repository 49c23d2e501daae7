import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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

  test.each([
    ["after a result", true],
    ["without any result", false],
  ])("goes on with a new token when its token has expired %s", async (_when, speaks) => {
    const id = await newQuietChat();
    let [asked, opened] = [0, 0];
    const token = async (): Promise<string> => {
      const expiresIn = asked++ === 0 ? "2s" : "1h";
      return (await running.api.post("/rest/v1/organization/token", { expiresIn }, 200)).token as string;
    };
    const chat = client(running.url, { key: undefined, token }).chat(id);
    const events = chat.events({ opened: () => void opened++, ...(speaks && { after: "0" }) });
    const messages = (async function* () {
      for await (const { message } of events) if (message) yield message.content;
    })();
    if (speaks) {
      await say(running.api, id, "first");
      expect((await messages.next()).value).toBe("first");
    }
    const second = messages.next();
    await until(() => opened === 2);
    await say(running.api, id, "second");
    expect((await second).value).toBe("second");
    expect([asked, opened]).toEqual([2, 2]);
    await messages.return();
  });

  test("fails with the error of the function that makes its token", async () => {
    const token = () => Promise.reject(new Error("no token"));
    const events = client(running.url, { key: undefined, token }).chat(UNKNOWN_ID).events();
    await expect(events.next()).rejects.toThrow("no token");
  });

  test("gives up a server that does not answer, after the time limit or when it is aborted", async () => {
    const silent = createServer(() => undefined)
      .on("upgrade", () => undefined)
      .listen(0, "127.0.0.1");
    await once(silent, "listening");
    afterTest(() => (silent.closeAllConnections(), silent.close()));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const late = client(url, { retries: 0, timeoutMs: 200 }).chat(UNKNOWN_ID).events();
    await expect(late.next()).rejects.toMatchObject({ code: "TIMEOUT" });
    const stop = new AbortController();
    const aborted = client(url).chat(UNKNOWN_ID).events({ signal: stop.signal }).next();
    setTimeout(() => stop.abort(new Error("enough")), 100);
    await expect(aborted).rejects.toThrow("enough");
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

  test.each([
    [0, 1],
    [1, 2],
  ])(
    "gives up a service that was never there after as many retries as it has: %d",
    async (retries, tries) => {
      let opened = 0;
      const proxy = await proxied();
      proxy.leave();
      const asked: number[] = [];
      const key = () => (asked.push(asked.length), "key");
      const events = client(rootOf(proxy), { retries, key })
        .chat(UNKNOWN_ID)
        .events({ opened: () => void opened++ });
      await expect(events.next()).rejects.toMatchObject({ code: "NETWORK" });
      expect([asked.length, opened]).toEqual([tries, 0]);
    },
  );
});

describe.each(TRANSPORTS)("over %s, an answer", (_name, transport) => {
  const client = (options: object = {}) =>
    createClient({ url: running.url, key: running.secretKey, ...transport, ...options });
  /** @param heard called for each part */
  async function answerTo(
    content: string,
    replies: Reply[],
    heard: (type: string) => void = () => undefined,
  ) {
    const { chatId, model, answered } = await talk(running, replies);
    afterTest(async () => {
      await answered();
      await model.stop();
    });
    const parts: string[] = [];
    for await (const part of client().chat(chatId).send(content)) {
      heard(part.type);
      parts.push(part.type === "message" ? `${part.message.role} ${part.message.content}` : part.type);
    }
    return { parts, chatId };
  }

  test("ends with the message that is stored", async () => {
    const { parts } = await answerTo("When do you open?", [{ text: ["At ", "nine."] }]);
    expect(parts.at(-1)).toBe("ASSISTANT At nine.");
    expect(parts.filter((part) => part.startsWith("ASSISTANT"))).toHaveLength(1);
  });

  test("says that it starts over, and still comes, when the model fails in between", async () => {
    let see: () => void;
    const seen = new Promise<void>((resolve) => (see = resolve));
    const { parts } = await answerTo(
      "Hello?",
      [{ half: "At", seen }, { text: ["At nine."] }],
      (type) => type === "text" && see(),
    );
    expect(parts.at(-1)).toMatch(/^ASSISTANT ./);
    expect(parts).toContain("reset");
  });

  test("is that of its own message, when an earlier one was not read to its end", async () => {
    const { chatId, model, answered } = await talk(running, [
      { text: ["One, ", "slowly."], after: 300 },
      { text: ["Two."] },
    ]);
    afterTest(async () => {
      await answered();
      await model.stop();
    });
    const chat = client().chat(chatId);
    const first = chat.send("First?");
    const beginning = first.next();
    await until(() => model.asked.length === 1);
    await beginning;
    await first.return();
    const parts: string[] = [];
    for await (const part of chat.send("Second?"))
      parts.push(
        part.type === "message" ? `= ${part.message.content}` : part.type === "text" ? part.text : part.type,
      );
    expect(parts.at(-1)).toBe("= Two.");
    expect(parts.filter((part) => part.startsWith("="))).toHaveLength(1);
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
