import { afterEach, describe, expect, test } from "@jest/globals";
import { WebSocket, type RawData } from "ws";
import { TOKENS_CHANNEL } from "../../src/chats/chats/chats";
import { useApp } from "../support/app";
import { newChat, quietAssistant, say } from "../support/factories";
import { until } from "../support/until";

const MOST = 5;
const running = useApp({
  TRUST_PROXY: "127.0.0.1",
  RATE_LIMIT_CONNECTION: "20",
  RATE_LIMIT_ANONYMOUS: "3",
  SOCKETS_PER_ADDRESS: String(MOST),
  SOCKETS_PER_ORGANIZATION: String(MOST + 1),
});

let open: WebSocket[] = [];
afterEach(() => {
  open.forEach((socket) => socket.terminate());
  open = [];
});

const textOf = (data: RawData) => (data as Buffer).toString("utf8"); // the type that ws uses by default
let clients = 0;
const newAddress = () => `203.0.113.${++clients}`;

interface Connection {
  readonly socket: WebSocket;
  /** HTTP status of the handshake. */
  readonly status: number;
  readonly closed: Promise<{ code: number; reason: string }>;
}

/** Opens a socket from an address, as a client of graphql-ws does. */
function connect(address: string | undefined): Promise<Connection> {
  const socket = new WebSocket(`${running.url.replace("http", "ws")}/graphql`, "graphql-transport-ws", {
    headers: address === undefined ? {} : { "X-Forwarded-For": address },
  });
  open.push(socket);
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once("close", (code, reason) => resolve({ code, reason: String(reason) })),
  );
  return new Promise((resolve, reject) => {
    socket.once("unexpected-response", (_request, { statusCode: status = 0 }) => {
      resolve({ socket, status, closed });
      socket.terminate();
    });
    socket.once("open", () => resolve({ socket, status: 101, closed }));
    socket.on("error", reject);
  });
}

/** Sends a credential; resolves when the server has accepted it or closed the socket. */
async function begin({ socket, closed }: Connection, key = running.secretKey): Promise<void> {
  const acknowledged = new Promise<void>((resolve) =>
    socket.on("message", (data) => textOf(data).includes("connection_ack") && resolve()),
  );
  socket.send(JSON.stringify({ type: "connection_init", payload: { "X-API-Key": key } }));
  await Promise.race([acknowledged, closed]);
}

const WATCH = "subscription ($chatId: ID!) { chatEvents(chatId: $chatId) { name text } }";
const subscribe = ({ socket }: Connection, chatId: string, id = "1") =>
  socket.send(JSON.stringify({ id, type: "subscribe", payload: { query: WATCH, variables: { chatId } } }));
const metrics = async () => (await fetch(`${running.url}/metrics`)).text();

describe("WebSocket connections", () => {
  test("beyond the limit per address are answered with 429 until others have closed", async () => {
    const address = newAddress();
    const opened = await Promise.all(Array.from({ length: MOST * 2 }, () => connect(address)));
    expect(opened.filter(({ status }) => status === 101)).toHaveLength(MOST);
    expect(opened.filter(({ status }) => status === 429)).toHaveLength(MOST);
    expect((await connect(newAddress())).status).toBe(101);
    const last = opened.find(({ status }) => status === 101)!;
    last.socket.close();
    await last.closed;
    expect((await connect(address)).status).toBe(101);
  });

  test("of one /64 count as one address", async () => {
    const opened = await Promise.all(
      Array.from({ length: MOST * 2 }, (_, host) => connect(`2a00:1450:4001:1::${host + 1}`)),
    );
    expect(opened.filter(({ status }) => status === 101)).toHaveLength(MOST);
  });

  test("beyond the limit per organization are closed with 1013, without affecting others", async () => {
    const { secretKey } = await running.otherOrganization();
    const held = await Promise.all(Array.from({ length: MOST + 1 }, () => connect(newAddress())));
    for (const one of held) await begin(one, secretKey);
    const more = await connect(newAddress());
    await begin(more, secretKey);
    expect((await more.closed).code).toBe(1013);
    const others = await connect(newAddress());
    await begin(others);
    expect(others.socket.readyState).toBe(WebSocket.OPEN);
    expect(held.every(({ socket }) => socket.readyState === WebSocket.OPEN)).toBe(true);
  });

  test("with wrong credentials beyond the limit per address are closed with 1013", async () => {
    const address = newAddress();
    const opened = await Promise.all(Array.from({ length: MOST }, () => connect(address)));
    await Promise.all(opened.map((one) => begin(one, "wrong")));
    const codes = await Promise.all(opened.map(async ({ closed }) => (await closed).code));
    expect(new Set(codes)).toEqual(new Set([4403, 1013]));
  });

  test("that send messages without end are closed with 1013", async () => {
    const one = await connect(newAddress());
    await begin(one);
    for (let sent = 0; sent < 2_000; sent++) one.socket.send('{"type":"ping"}');
    expect((await one.closed).code).toBe(1013);
  });

  test("run at most 100 subscriptions at once", async () => {
    const chat = await newChat(running.api, await quietAssistant(running.api));
    const one = await connect(undefined);
    await begin(one);
    const errors: string[] = [];
    one.socket.on("message", (data) => {
      const { type, payload } = JSON.parse(textOf(data)) as { type: string; payload: unknown };
      if (type === "error") errors.push(JSON.stringify(payload));
    });
    for (let id = 0; id < 120; id++) subscribe(one, chat, String(id));
    await until(() => errors.length === 20);
    expect(errors.every((text) => text.includes("RATE_LIMITED"))).toBe(true);
  });
});

test("a subscriber that stops reading is disconnected when its queue is full, without affecting others", async () => {
  const chat = await newChat(running.api, await quietAssistant(running.api));
  const [slow, quick] = [await connect(undefined), await connect(undefined)];
  const heard: string[] = [];
  quick.socket.on("message", (data) => heard.push(textOf(data)));
  for (const one of [slow, quick]) {
    await begin(one);
    subscribe(one, chat);
  }
  await say(running.api, chat, "begins");
  await until(() => heard.some((text) => text.includes("conversation-updated")));
  slow.socket.pause();
  const { id } = await running.api.get("/rest/v1/organization", 200);
  const scope = running.app.database.scope(id);
  const piece = "x".repeat(7_500);
  const given = async () => (await metrics()).includes('given_up_total{reason="slow"} 1');
  const over = until(given).then(() => slow.socket.resume());
  let reading = false;
  void over.then(() => (reading = true));
  while (!reading) await scope.notify(TOKENS_CHANNEL, { chatId: chat, text: piece });
  expect(await slow.closed).toEqual({
    code: 1013,
    reason: "The client reads too slowly. Connect again.",
  });
  await say(running.api, chat, "the end");
  await until(() => heard.filter((text) => text.includes("conversation-updated")).length === 2);
});
