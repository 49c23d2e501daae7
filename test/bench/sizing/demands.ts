import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { gql, HEADERS, newChat, type Bench } from "../bench";
import { instantModel, listening } from "../calls";
import { cpuBelow, cpuOf, postmasterOf } from "../cpu";
import { DASHBOARD } from "../dashboard";
import type { Load } from "../load";

/** CPU time that an operation takes, in ms. */
export interface Demand {
  readonly server: number;
  readonly database: number;
}

/** Demands by operation. A turn is a message of a person, its answer, and a webhook of each. */
export type Demands = Readonly<
  Record<"turn" | "read" | "page" | "search" | "dashboard" | "analytics", Demand>
>;

export interface Measured {
  readonly demands: Demands;
  /** Bytes of the database by message, with its event, delivery and indexes. */
  readonly bytesPerMessage: number;
}

/** Conversations, and the turns of each. */
const CHATS = 100;
const TURNS = 10;
const AT_ONCE = 8;
/** Until the work that operations leave behind is done. */
const SETTLE_MS = 5_000;

const SAID =
  "Could you tell me when the practice opens on Monday, and whether I can bring my two children along?";

/** Measures the CPU time of operations, not their duration, so that other programs on the machine disturb little. */
export async function measureDemands(bench: Bench): Promise<Measured> {
  const { ours, databaseUrl, load, ids } = bench;
  const postmaster = await postmasterOf(databaseUrl);
  const spent = () => [cpuOf(ours.pid), cpuBelow(postmaster)] as const;
  const demandOf = async (operations: number, work: () => Promise<unknown>): Promise<Demand> => {
    const before = spent();
    await work();
    await sleep(SETTLE_MS);
    const [server, database] = spent().map((after, index) => (1_000 * (after - before[index]!)) / operations);
    return { server: server!, database: database! };
  };
  const loaded = (work: Omit<Load, "origin" | "connections">) => {
    const send = () => load.send({ ...work, origin: ours.url, connections: AT_ONCE });
    return send().then(() => demandOf(work.requests, send));
  };
  const get = (path: string, requests: number) => loaded({ method: "GET", path, headers: HEADERS, requests });
  const post = (query: string, requests: number) => {
    const headers = { ...HEADERS, "Content-Type": "application/json" };
    return loaded({ method: "POST", path: "/graphql", headers, body: JSON.stringify({ query }), requests });
  };
  const reading = {
    read: await get(`/rest/v1/assistants/${ids[100]!}`, 10_000),
    page: await get("/rest/v1/assistants?page=2&take=20", 4_000),
    search: await get(`/rest/v1/assistants/${ids[100]!}/logs?search=parcel`, 4_000),
    dashboard: await post(DASHBOARD, 500),
    analytics: await post(
      "{ analytics(input: {}) { totals { conversations messages } days { date conversations } } }",
      500,
    ),
  };
  const before = await sizeOf(databaseUrl);
  const turn = await talking(bench, (talk) => demandOf(CHATS * TURNS, talk));
  const bytesPerMessage = ((await sizeOf(databaseUrl)) - before) / (2 * CHATS * TURNS);
  return { demands: { turn, ...reading }, bytesPerMessage };
}

/** Has conversations with a model that answers at once, heard by a destination. */
async function talking(
  { ours, ids }: Bench,
  measured: (talk: () => Promise<void>) => Promise<Demand>,
): Promise<Demand> {
  const model = instantModel();
  const receiver = createServer((req, res) => req.resume().on("end", () => res.end()));
  const baseUrl = `${await listening(model)}/v1`;
  const credential = { provider: "OPENAI", apiKey: "stub", baseUrl };
  await gql(
    ours.url,
    `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`,
    {
      input: credential,
    },
  );
  const destination = { url: await listening(receiver), secret: "of the benchmark" };
  await gql(
    ours.url,
    `mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }`,
    { input: destination },
  );
  try {
    await converse(ours.url, ids.slice(0, AT_ONCE), 1); // warms up
    return await measured(() => converse(ours.url, ids, TURNS));
  } finally {
    for (const server of [model, receiver]) {
      server.closeAllConnections();
      server.close();
    }
  }
}

async function converse(url: string, ids: readonly string[], turns: number): Promise<void> {
  const say = `mutation ($input: PostMessageInput!) { postMessage(input: $input, withReply: true) { reply { id } } }`;
  const chats = Array.from({ length: Math.min(CHATS, ids.length) }, (_, index) => ids[index]!);
  const person = async () => {
    for (let assistantId = chats.pop(); assistantId !== undefined; assistantId = chats.pop()) {
      const aiChatId = await newChat(url, assistantId);
      const message = { aiChatId, role: "USER", channel: "TEXT", content: SAID, metadata: {} };
      for (let turn = 0; turn < turns; turn++) await gql(url, say, { input: message });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, person));
}

async function sizeOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ size: string }>(
    "select pg_database_size(current_database())::text as size",
  );
  await client.end();
  return Number(rows[0]!.size);
}
