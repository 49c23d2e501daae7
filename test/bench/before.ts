import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "pg";
import { gql, HEADERS, percentile, SECRET_KEY } from "./bench";
import { instantModel, listening } from "./calls";
import { DASHBOARD } from "./dashboard";
import { fill } from "./data";
import type { Load } from "./load";
import { start, type LoadGenerator, type Running } from "./processes";
import { ratio, type Table } from "./table";

/** Many short rounds, so that other load of the machine affects both versions equally. */
const ROUNDS = 60;
const TURNS = 300;
/** Minimum speed relative to the earlier version. */
const READS = 0.95;
const POSTS = 0.9;

interface Version {
  readonly server: Running;
  readonly ids: readonly string[];
}
type VersionPair = Readonly<Record<"ours" | "baseline", Version>>;

/**
 * Compares this version with a built checkout of an earlier one: in turn, each on its own database with the same data.
 */
export async function before(checkout: string, flags: readonly string[], load: LoadGenerator, table: Table) {
  const model = instantModel();
  const baseUrl = await listening(model);
  const folders: string[] = [];
  const version = async (root: string): Promise<Version> => {
    const dataDir = mkdtempSync(join(tmpdir(), "parley-bench-before-"));
    folders.push(dataDir);
    return running(root, dataDir, flags, baseUrl);
  };
  const both = { ours: await version("."), baseline: await version(checkout) };
  try {
    await reads(both, load, table);
    await posts(both, load, table);
  } finally {
    for (const { server } of Object.values(both)) await server.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    model.closeAllConnections();
    model.close();
  }
}

async function running(root: string, dataDir: string, flags: readonly string[], baseUrl: string) {
  const settings = { PORT: "0", DATA_DIR: dataDir, BOOTSTRAP_SECRET_KEY: SECRET_KEY };
  const env = { ...settings, OPENAI_API_KEY: "stub", OPENAI_BASE_URL: baseUrl };
  // Earlier versions have no bundle.
  const run = join(resolve(root), "src/cli/bundle/run.cjs");
  const program = [
    ...flags,
    ...(existsSync(run) ? [run, "main"] : [join(resolve(root), "dist/src/main.js")]),
  ];
  const server = await start(program, /GraphQL +(http:\S+)\/graphql[^]+Try it:/, env, resolve(root));
  // Earlier versions have this module in another folder.
  const module = ["platform/database", "database"]
    .map((folder) => join(resolve(root), "dist/src", folder, "embedded.js"))
    .find((path) => existsSync(path))!;
  const { runningEmbedded } = createRequire(module)(module) as {
    runningEmbedded(dataDir: string): Promise<string | null>;
  };
  const db = new Client({ connectionString: (await runningEmbedded(dataDir))! });
  await db.connect();
  const ids = await fill(server.url, SECRET_KEY, db);
  await db.end();
  return { server, ids };
}

async function reads(both: VersionPair, load: LoadGenerator, table: Table) {
  const get = { method: "GET", headers: HEADERS, connections: 16 } as const;
  const graphql = {
    ...get,
    method: "POST",
    headers: { ...HEADERS, "Content-Type": "application/json" },
  } as const;
  const one = (id: string) => JSON.stringify({ query: `{ assistant(id: "${id}") { id name description } }` });
  const works: Record<string, (id: string) => Omit<Load, "origin">> = {
    "GET /rest/v1/assistants/{id}": (id) => ({ ...get, path: `/rest/v1/assistants/${id}`, requests: 600 }),
    "a page of 20 assistants": () => ({ ...get, path: "/rest/v1/assistants?page=2&take=20", requests: 250 }),
    "the logs of an assistant": (id) => ({
      ...get,
      path: `/rest/v1/assistants/${id}/logs`,
      requests: 250,
    }),
    "assistant by id, GraphQL": (id) => ({ ...graphql, path: "/graphql", body: one(id), requests: 450 }),
    "dashboard, GraphQL": () => ({
      ...graphql,
      path: "/graphql",
      body: JSON.stringify({ query: DASHBOARD }),
      requests: 30,
      connections: 4,
    }),
  };
  for (const [what, work] of Object.entries(works)) {
    const taken = async (name: keyof VersionPair) => {
      const { server, ids } = both[name];
      const send = { ...work(ids[100]!), origin: server.url };
      return send.requests / (await load.send(send));
    };
    await interleaved(what, READS, table, taken);
  }
}

/** Runs rounds in pairs, each pair in the reverse order of the previous one. The first pair is a warm-up. */
async function interleaved(
  what: string,
  target: number,
  table: Table,
  measure: (name: keyof VersionPair) => Promise<number>,
  rounds = ROUNDS,
) {
  const measured: { ours: number; baseline: number }[] = [];
  for (let number = 0; number <= rounds; number++) {
    const order = number % 2 === 0 ? (["ours", "baseline"] as const) : (["baseline", "ours"] as const);
    const taken = { ours: 0, baseline: 0 };
    for (const name of order) taken[name] = await measure(name);
    if (number > 0) measured.push(taken);
  }
  const ratios = measured.map(({ ours, baseline }) => ours / baseline);
  const spread = [0.25, 0.75].map((part) => percentile(ratios, part).toFixed(2)).join(" to ");
  table.add({ what: `${what} (quartiles ${spread})`, target, ...ratio(measured) });
}

/**
 * Measures posted messages: one after another with the answer of an instant model, and without answers in a growing
 * conversation.
 */
async function posts(both: VersionPair, load: LoadGenerator, table: Table) {
  let next = 0;
  const chatOf = async ({ server, ids }: Version) => {
    const input = { assistantId: ids[next++ % ids.length]!, channel: "TEXT" };
    const query = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
    return (await gql<{ startChat: { id: string } }>(server.url, query, { input })).startChat.id;
  };
  const input = { role: "USER", channel: "TEXT", content: "When do you open?", metadata: {} };
  const post = (wait: boolean) =>
    `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: ${wait}) { role } }`;
  const turn = async (name: keyof VersionPair) => {
    const version = both[name];
    const aiChatId = await chatOf(version);
    const began = performance.now();
    await gql(version.server.url, post(true), { input: { ...input, aiChatId } });
    return 1000 / (performance.now() - began);
  };
  await interleaved("a message posted and answered, one after another", POSTS, table, turn, TURNS);
  const stored = async (name: keyof VersionPair) => {
    const version = both[name];
    const message = { ...input, role: "ASSISTANT", aiChatId: await chatOf(version) };
    const body = JSON.stringify({ query: post(false), variables: { input: message } });
    const headers = { ...HEADERS, "Content-Type": "application/json" };
    const work: Load = {
      origin: version.server.url,
      method: "POST",
      path: "/graphql",
      headers,
      body,
      requests: 40,
      connections: 1,
    };
    return work.requests / (await load.send(work));
  };
  await interleaved("messages posted to one chat, one after another", POSTS, table, stored);
}
