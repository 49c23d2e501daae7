import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { runningEmbedded } from "../../src/platform/database/embedded/embedded";
import { analytics } from "./analytics";
import { before } from "./before";
import { HEADERS, SECRET_KEY, type Bench } from "./bench";
import { CALL_SETTINGS, calls, instantModel, listening } from "./calls";
import { DASHBOARD } from "./dashboard";
import { fill } from "./data";
import type { Load } from "./load";
import { deliveries } from "./deliveries";
import { events } from "./events";
import { peers } from "./peers/peers";
import { pgbouncer } from "./pgbouncer";
import { LoadGenerator, residentMemory, start, stopAll, type Running } from "./processes";
import { growth } from "./growth";
import { guards } from "./guards";
import { idle } from "./idle";
import { limits } from "./limits/limits";
import { memory } from "./memory";
import { retention } from "./retention";
import { search } from "./search";
import { servers } from "./servers";
import { sizing } from "./sizing/sizing";
import { sms } from "./sms";
import { ratio, Table } from "./table";
import { turns } from "./turns";
import { versions } from "./versions";
import { writers } from "./writers";
import { upgrade } from "./upgrade";

/** Requests before the service's memory is measured. */
const MANY = 100_000;
const ROUNDS = 7;
/** Rounds for small differences: a pause of the machine in one of many short rounds does not move the median. */
const MANY_ROUNDS = 41;

type Work = Omit<Load, "origin">;
type Servers = Readonly<Record<"ours" | "baseline", Running>>;

const dataDir = mkdtempSync(join(tmpdir(), "parley-bench-"));
const table = new Table();
const load = new LoadGenerator();
let answered = 0;

/** The flags that `npm start` passes to Node. */
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { start: string } };
const FLAGS = scripts.start.match(/--\S+/g) ?? [];

const READY = /GraphQL +(http:\S+)\/graphql[^]+Try it:/;

const serve = (env: Readonly<Record<string, string>> = {}, program = ["src/cli/bundle/run.cjs", "main"]) =>
  start([...FLAGS, ...program], READY, {
    PORT: "0",
    DATA_DIR: dataDir,
    BOOTSTRAP_SECRET_KEY: SECRET_KEY,
    RETENTION_NOTICE_DAYS: "0",
    QUOTA_STORED_BYTES: "1000000000000", // ten million logs are more than the default
    EVENT_RETENTION_DAYS: "1000", // of events that the benchmark dates back
    ...env,
  });

const encryptionKeys = () => readFileSync(join(dataDir, "encryption-keys"), "utf8");

async function compare(what: string, target: number, servers: Servers, work: Work, rounds = ROUNDS) {
  const send = (name: keyof Servers) => load.send({ ...work, origin: servers[name].url });
  for (const name of ["ours", "baseline"] as const) await send(name); // warms up both servers and PostgreSQL
  const measured: { ours: number; baseline: number }[] = [];
  for (let number = 0; number < rounds; number++) {
    const order = number % 2 === 0 ? (["ours", "baseline"] as const) : (["baseline", "ours"] as const);
    const taken = { ours: 0, baseline: 0 };
    for (const name of order) taken[name] = work.requests / (await send(name));
    measured.push(taken);
  }
  answered += work.requests * (rounds + 1);
  table.add({ what, target, ...ratio(measured) });
}

async function starts(): Promise<Running> {
  const empty = await serve();
  table.add({ what: "start on an empty data folder", ours: empty.startSeconds, unit: "s", most: 8 });
  let running = empty;
  const seconds: number[] = [];
  for (let count = 0; count < 3; count++) {
    await running.stop();
    running = await serve();
    seconds.push(running.startSeconds);
  }
  const median = seconds.sort((a, b) => a - b)[1]!;
  table.add({ what: "start on an existing one", ours: median, unit: "s", most: 3 });
  return running;
}

/** Compares requests through both interfaces with a hand-written server. */
async function speeds({ ours, databaseUrl, ids }: Bench) {
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  const { rows } = await db.query<{ id: string }>("select id from organizations where is_default");
  await db.end();
  const baseline = await start(["dist/bench/baseline.js"], /ready at (\S+) now/, {
    DATABASE_URL: databaseUrl,
    SECRET_KEY,
    ORGANIZATION_ID: rows[0]!.id,
  });
  await requests({ ours, baseline }, ids[100]!);
  await baseline.stop();
}

async function requests(servers: Servers, id: string) {
  const get = { method: "GET", headers: HEADERS, connections: 16 } as const;
  const one: Work = { ...get, path: `/rest/v1/assistants/${id}`, requests: 4_000 };
  const page: Work = { ...get, path: "/rest/v1/assistants?page=2&take=20", requests: 1_500 };
  const dashboard: Work = {
    method: "POST",
    path: "/graphql",
    headers: { ...HEADERS, "Content-Type": "application/json" },
    body: JSON.stringify({ query: DASHBOARD }),
    requests: 100,
    connections: 1,
  };
  await compare("GET /rest/v1/assistants/{id}", 0.6, servers, one);
  await compare("a page of 20 assistants", 0.6, servers, page);
  await compare("dashboard, one after another", 1, servers, dashboard, MANY_ROUNDS);
  await compare("dashboard, 16 at once", 1, servers, { ...dashboard, requests: 250, connections: 16 });
  while (answered < MANY) {
    await load.send({ ...one, origin: servers.ours.url });
    answered += one.requests;
  }
  const ourMiB = residentMemory(servers.ours.pid);
  table.add({ what: `memory after ${answered} requests`, ours: ourMiB, unit: "MiB", most: 200 });
}

/** On a database of its own. */
async function speaking() {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-calls-"));
  const model = instantModel();
  const server = await start([...FLAGS, "src/cli/bundle/run.cjs", "main"], READY, {
    PORT: "0",
    DATA_DIR: folder,
    BOOTSTRAP_SECRET_KEY: SECRET_KEY,
    OPENAI_BASE_URL: await listening(model),
    ...CALL_SETTINGS,
  });
  await calls(server, SECRET_KEY, table).finally(() => server.stop());
  model.closeAllConnections();
  model.close();
  rmSync(folder, { recursive: true, force: true });
}

/** On a database of its own, with a million logs. */
async function comparing() {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-peers-"));
  const ours = await start([...FLAGS, "src/cli/bundle/run.cjs", "main"], READY, {
    PORT: "0",
    DATA_DIR: folder,
    BOOTSTRAP_SECRET_KEY: SECRET_KEY,
    QUOTA_ASSISTANTS: "10000000", // the benchmark creates as many as it can
  });
  const databaseUrl = (await runningEmbedded(folder))!; // the service has just started on it
  try {
    const lines = await peers({ ours, databaseUrl });
    console.log(lines.join("\n"));
    for (const line of lines.filter((one) => / (?:BELOW|ABOVE) /.test(one)))
      table.noteMissed(line.split(" | ")[0]!.slice(2));
  } finally {
    await ours.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** On a database of its own. */
async function texting() {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-sms-"));
  const serve = (env: Record<string, string>) =>
    start([...FLAGS, "src/cli/bundle/run.cjs", "main"], READY, {
      PORT: "0",
      DATA_DIR: folder,
      BOOTSTRAP_SECRET_KEY: SECRET_KEY,
      ...env,
    });
  await sms(serve, SECRET_KEY, table).finally(() => rmSync(folder, { recursive: true, force: true }));
}

/**
 * Parts. `npm run bench` runs all, `npm run bench -- search turns` the named ones; `-- before DIR` compares with a
 * built checkout; `-- upgrade COMMIT` upgrades the database of a running server of an earlier version.
 */
const PARTS = {
  idle,
  speeds,
  turns,
  search,
  growth,
  retention,
  analytics,
  deliveries,
  memory,
  sizing,
  servers,
  limits,
  writers,
  versions,
  guards,
  pgbouncer,
  events, // stops the shared server, so it is the last part that uses it
  calls: speaking,
  sms: texting,
  peers: comparing,
} as const;

async function main() {
  const named = process.argv.slice(2);
  const [first, checkout] = named;
  if (first === "before" && checkout) return before(checkout, FLAGS, load, table);
  if (first === "upgrade") return upgrade(table, checkout);
  const unknown = named.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0)
    throw new Error(`No such part: ${unknown.join(", ")}. There are ${Object.keys(PARTS).join(", ")}.`);
  const ours = await starts();
  const databaseUrl = (await runningEmbedded(dataDir))!; // the service has just started on it
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  const ids = await fill(ours.url, SECRET_KEY, db);
  await db.end();
  for (const [name, part] of Object.entries(PARTS))
    if (named.length === 0 || named.includes(name))
      await part({ ours, databaseUrl, encryptionKeys, table, load, ids, serve });
  await ours.stop();
}

main()
  .catch((error: unknown) => {
    process.exitCode = 1;
    console.error(error);
  })
  .finally(async () => {
    await stopAll();
    await load.stop();
    rmSync(dataDir, { recursive: true, force: true });
    console.log(table.print());
    if (!table.allMet) process.exitCode = 1;
  });
