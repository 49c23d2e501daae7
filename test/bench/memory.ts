import { setTimeout as sleep } from "node:timers/promises";
import { HEADERS, newChat, type Bench } from "./bench";
import { DASHBOARD } from "./dashboard";
import type { Load } from "./load";
import { residentMemory } from "./processes";

/** Duration of the load. Set `MEMORY_SECONDS=3600` to measure an hour. */
const SECONDS = Number(process.env.MEMORY_SECONDS ?? 60);
const CONNECTIONS = 16;
const MOST_MIB = 180;
/** After this time without requests V8 has returned what it does not need. */
const REST_MS = 90_000;

type Work = Omit<Load, "origin" | "connections">;

/** Loads the service with all kinds of requests by turns, and measures its memory after each turn and when it is idle again. */
export async function memory({ ours, table, load, ids }: Bench): Promise<void> {
  const began = performance.now();
  const memories: number[] = [];
  let requests = 0;
  while (performance.now() - began < SECONDS * 1_000)
    for (const work of await turn(ours.url, ids[100]!)) {
      await load.send({ ...work, origin: ours.url, connections: CONNECTIONS });
      requests += work.requests;
      memories.push(residentMemory(ours.pid));
    }
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  const after = `after ${minutes} minutes and ${requests} requests`;
  table.add({ what: "memory, most at any time", ours: Math.max(...memories), unit: "MiB" });
  table.add({ what: `memory ${after}`, ours: memories.at(-1)!, unit: "MiB" });
  await sleep(REST_MS);
  const rested = residentMemory(ours.pid);
  table.add({ what: `memory ${REST_MS / 1_000} s later`, ours: rested, unit: "MiB", most: MOST_MIB });
}

/** Reads, lists, searches, the dashboard, changes, and messages in a new conversation. */
async function turn(url: string, id: string): Promise<Work[]> {
  const get = (path: string, requests: number): Work => ({ method: "GET", path, headers: HEADERS, requests });
  const headers = { ...HEADERS, "Content-Type": "application/json" };
  const post = (path: string, body: object, requests: number): Work => ({
    ...{ method: "POST", path, headers, requests },
    body: JSON.stringify(body),
  });
  const aiChatId = await newChat(url, id);
  const message = { role: "SYSTEM", channel: "TEXT", content: "noted", metadata: {} };
  const change = `mutation ($id: ID!, $input: UpdateChatConfigurationInput!) {
    updateChatConfiguration(assistantId: $id, input: $input) { prompt } }`;
  return [
    get(`/rest/v1/assistants/${id}`, 2_000),
    get("/rest/v1/assistants?page=2&take=20", 1_000),
    get(`/rest/v1/assistants/${id}/logs?search=parcel`, 1_000),
    post("/graphql", { query: DASHBOARD }, 200),
    post("/graphql", { query: change, variables: { id, input: { prompt: "Be brief." } } }, 500),
    post("/rest/v1/ai-chats/messages", { ...message, aiChatId }, 200),
  ];
}
