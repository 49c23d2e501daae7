import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { Running } from "./processes";
import type { Table } from "./table";

/** Number of simultaneous calls, and the maximum time for their events to arrive after the last call, in seconds. */
const CALLS = 200;
const DRAIN = 10;
const QUESTIONS = 300;
const SECRET = "the-secret-of-the-benchmarks-engine";

/** Settings for calls simulated in real time, with a known secret of the engine. */
export const CALL_SETTINGS = { VOICE_ENGINE_SECRET: SECRET, OPENAI_API_KEY: "none" } as const;

export async function listening(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that records which events have arrived. */
function receiver(arrived: Set<string>): Server {
  return createServer((req, res) => {
    req.resume().on("end", () => {
      arrived.add(String(req.headers["webhook-id"]));
      res.end();
    });
  });
}

/** A model that answers at once, so that only the service is measured. */
export function instantModel(): Server {
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const answer = `${chunk({ role: "assistant", content: "We open at eight." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;
  return createServer((req, res) => {
    req.resume().on("end", () => res.writeHead(200, { "content-type": "text/event-stream" }).end(answer));
  });
}

type Send = (path: string, body: object) => Promise<{ readonly id: string }>;

/**
 * Measures 200 simultaneous simulated calls: delivery of all their events, and the time to the assistant's first word.
 */
export async function calls(server: Running, key: string, table: Table): Promise<void> {
  const send: Send = async (path, body) => {
    const headers = { "X-API-Key": key, "Content-Type": "application/json" };
    const answer = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const arrived = new Set<string>();
  const hooks = receiver(arrived);
  await send("/rest/v1/settings", { url: await listening(hooks), secret: "shared" });
  const { id: assistantId } = await send("/rest/v1/assistants", { name: "Receptionist" });
  await firstWords(server, send, assistantId, table);
  await manyCalls(send, assistantId, arrived, table);
  hooks.closeAllConnections();
  hooks.close();
}

async function manyCalls(
  send: Send,
  assistantId: string,
  arrived: ReadonlySet<string>,
  table: Table,
): Promise<void> {
  const call = () =>
    send("/rest/v1/call/phone", { assistantId, phoneNumber: "+12025550100", userId: "bench" });
  await Promise.all(Array.from({ length: CALLS }, call));
  const query =
    '{ calls(first: 100, filter: { userId: "bench" }) { nodes { status } } live: calls(first: 1, filter: { userId: "bench", status: "in-progress" }) { nodes { id } } }';
  const live = async () => {
    const { data } = (await send("/graphql", { query })) as unknown as {
      data: { calls: { nodes: { status: string }[] }; live: { nodes: unknown[] } };
    };
    return data.live.nodes.length > 0 || data.calls.nodes.some(({ status }) => status !== "ended");
  };
  while (await live()) await sleep(100);
  const over = performance.now();
  const ids = await ledger(send);
  const missing = () => ids.filter((id) => !arrived.has(id)).length;
  while (missing() > 0 && performance.now() - over < 60_000) await sleep(50);
  const drained = (performance.now() - over) / 1_000;
  table.add({
    what: `${CALLS} calls at once: events not delivered`,
    ours: missing(),
    unit: `of ${ids.length}`,
    most: 1,
  });
  table.add({
    what: `${CALLS} calls at once: last event after the last call`,
    ours: drained,
    unit: "s",
    most: DRAIN,
  });
}

/** The ids of all events. */
async function ledger(send: Send): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const query =
      "query ($after: String) { events(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }";
    const { data } = (await send("/graphql", { query, variables: { after } })) as unknown as {
      data: { events: { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } };
    };
    ids.push(...data.events.nodes.map(({ id }) => id));
    if (!data.events.pageInfo.hasNextPage) return ids;
    after = data.events.pageInfo.endCursor;
  }
}

async function firstWords(server: Running, send: Send, assistantId: string, table: Table): Promise<void> {
  const { id } = await send("/rest/v1/call/phone", { assistantId, phoneNumber: "+12025550110" });
  const pool = new Pool(server.url, { connections: 1, pipelining: 1 });
  const body = JSON.stringify({
    model: "m",
    stream: true,
    messages: [{ role: "user", content: "When do you open?" }],
  });
  const headers = { "content-type": "application/json", "x-vapi-secret": SECRET, "x-parley-call": id };
  const taken: number[] = [];
  for (let count = 0; count < QUESTIONS; count++) {
    const began = performance.now();
    const path = "/rest/v1/webhooks/vapi/custom-llm/chat/completions";
    const { body: pieces } = await pool.request({ method: "POST", path, headers, body });
    let first: number | undefined;
    for await (const piece of pieces)
      if (String(piece).includes("We open")) first ??= performance.now() - began;
    if (first === undefined) throw new Error("The assistant said something else.");
    taken.push(first);
  }
  await pool.destroy();
  await send("/graphql", { query: "mutation ($id: ID!) { cancelCall(id: $id) { id } }", variables: { id } });
  const median = taken.sort((a, b) => a - b)[Math.floor(taken.length / 2)]!;
  table.add({ what: "first word of the assistant in a call, median", ours: median, unit: "ms", most: 20 });
}
