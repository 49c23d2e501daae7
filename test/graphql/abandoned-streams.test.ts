import { get } from "node:http";
import { expect, test } from "@jest/globals";
import pg from "pg";
import { WebSocket } from "ws";
import { KEYS_CHANNEL } from "../../src/account/auth/credentials";
import { useApp } from "../support/app";
import { someoneWaits } from "../support/database";
import { afterTest } from "../support/server";
import { until } from "../support/until";

const running = useApp({ TRUST_PROXY: "127.0.0.1", SOCKETS_PER_ADDRESS: "1", SOCKETS_PER_ORGANIZATION: "1" });
const FIRST = "subscription { organizationEvents { id } }";
const FROM = { "X-Forwarded-For": "203.0.113.5" };

/** Lets whoever looks up a key wait until it is released. */
async function holdKeys(): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: running.database.ownerUrl });
  await holder.connect();
  afterTest(() => holder.end());
  await holder.query("begin");
  await holder.query("lock table api_keys in access exclusive mode");
  return async () => void (await holder.query("commit"));
}

const connections = () =>
  new Promise<number>((resolve) => running.app.server.getConnections((_, count) => resolve(count)));

/** Number of functions that hear of changed keys: one for each open stream, and one of the process. */
function watchers(): number {
  const { listener } = running.app.database.scope("").ports;
  // The service keeps the listeners of notifications to itself.
  return (listener as unknown as { emitter: NodeJS.EventEmitter }).emitter.listenerCount(KEYS_CHANNEL);
}

/** Opens a socket and sends a credential. */
async function begin(key: string): Promise<WebSocket> {
  const url = `${running.url.replace("http", "ws")}/graphql`;
  const socket = new WebSocket(url, "graphql-transport-ws", { headers: FROM });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.send(JSON.stringify({ type: "connection_init", payload: { "X-API-Key": key } }));
  return socket;
}

/** Requests a stream of Server-Sent Events, on a connection of its own. */
function stream(key: string): { readonly status: Promise<number | undefined>; leave(): void } {
  const url = `${running.url}/graphql?${new URLSearchParams({ query: FIRST }).toString()}`;
  const headers = { ...FROM, Accept: "text/event-stream", "X-API-Key": key };
  const request = get(url, { headers, agent: false });
  const status = new Promise<number | undefined>((resolve) =>
    request.once("response", ({ statusCode }) => resolve(statusCode)).once("error", () => resolve(undefined)),
  );
  return { status, leave: () => void request.destroy() };
}

test("a socket that closes while its credential is looked up leaves nothing behind", async () => {
  const { secretKey } = await running.otherOrganization();
  const [before, open] = [watchers(), await connections()];
  const release = await holdKeys();
  const first = await begin(secretKey);
  await until(() => someoneWaits(running.database));
  first.terminate();
  await until(async () => (await connections()) <= open);
  await release();
  const next = await begin(secretKey);
  const answer = await new Promise<unknown>((resolve) =>
    next
      .once("message", (data) => resolve(JSON.parse((data as Buffer).toString("utf8"))))
      .once("close", resolve),
  );
  expect(answer).toEqual({ type: "connection_ack" });
  expect(watchers()).toBe(before + 1);
  next.terminate();
  await until(() => watchers() === before);
});

test("a stream whose client leaves while its credential is looked up leaves nothing behind", async () => {
  const { secretKey } = await running.otherOrganization();
  const [before, open] = [watchers(), await connections()];
  const release = await holdKeys();
  const first = stream(secretKey);
  await until(() => someoneWaits(running.database));
  first.leave();
  await until(async () => (await connections()) <= open);
  await release();
  const next = stream(secretKey);
  expect(await next.status).toBe(200);
  await until(() => watchers() === before + 1);
  next.leave();
  await until(() => watchers() === before);
});
