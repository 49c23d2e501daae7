import { execFileSync } from "node:child_process";
import { Client } from "pg";
import { roleSettings } from "../../src/platform/database/connections/pooler";
import { hasPgBouncer, knowsPrepared, PGBOUNCER, startPgBouncer } from "../support/pgbouncer";
import { HEADERS, type Bench } from "./bench";
import { cpuBelow, cpuOf, postmasterOf } from "./cpu";
import type { Load } from "./load";
import { Patches } from "./patches";
import { interleaved, SIDES, type Side } from "./rounds";
import { ratio } from "./table";

const ROUNDS = Number(process.env.PGBOUNCER_ROUNDS ?? 31);
const CONNECTIONS = 8;
const PATCHES = 200;
/** Not promised: PgBouncer takes time of the same cores. */
const READS = 0.5;
const WRITES = 0.85;

/**
 * Compares a server behind PgBouncer with one that has direct connections, on one database: by requests a second, and by
 * requests per second of CPU time of the server, PostgreSQL and PgBouncer, which other load of the machine moves less.
 */
export async function pgbouncer({ serve, databaseUrl, encryptionKeys, table, load, ids }: Bench) {
  if (!hasPgBouncer()) throw new Error(`There is no ${PGBOUNCER}. Install PgBouncer, or set PGBOUNCER_BIN.`);
  const { username, password, pathname } = new URL(databaseUrl);
  const database = pathname.slice(1);
  await runAll(databaseUrl, Object.values(roleSettings(username, database)));
  const pooler = await startPgBouncer(databaseUrl, { [username]: password });
  const direct = {
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: encryptionKeys(),
    HOST: "127.0.0.1",
    WORKER: "false", // the jobs of both are done by the shared server
  };
  const prepare = knowsPrepared() ? "on" : "off";
  const servers = {
    ours: await serve({
      ...direct,
      DATABASE_URL: pooler.through(databaseUrl),
      DATABASE_DIRECT_URL: databaseUrl,
      DATABASE_PREPARE: prepare,
    }),
    baseline: await serve(direct),
  };
  const postmaster = await postmasterOf(databaseUrl);
  const cpu = (side: Side) =>
    cpuOf(servers[side].pid) + cpuBelow(postmaster) + (side === "ours" ? cpuOf(pooler.pid) : 0);
  const [version] = execFileSync(PGBOUNCER, ["--version"]).toString().split("\n");
  const compare = async ({ what, target, requests }: Size, run: (side: Side) => Promise<number>) => {
    const named = `${version}, DATABASE_PREPARE=${prepare}: ${what}`;
    const byCpu: Record<Side, number[]> = { ours: [], baseline: [] };
    await interleaved(named, target, ROUNDS, table, async (side) => {
      const before = cpu(side);
      const rate = await run(side);
      byCpu[side].push(requests / (cpu(side) - before));
      return rate;
    });
    const rounds = byCpu.ours.map((ours, number) => ({ ours, baseline: byCpu.baseline[number]! }));
    table.add({ what: `${named}, by CPU time`, target, ...ratio(rounds.slice(1)) });
  };
  const patching = ids.slice(0, CONNECTIONS);
  const patches = {
    ours: new Patches(servers.ours.url, patching),
    baseline: new Patches(servers.baseline.url, patching),
  };
  try {
    for (const work of worksOn(ids[100]!))
      await compare(work, async (side) => {
        const { what: _what, target: _target, ...sent } = work;
        const seconds = await load.send({ ...sent, origin: servers[side].url, connections: CONNECTIONS });
        return work.requests / seconds;
      });
    await compare({ what: "PATCH of a configuration", target: WRITES, requests: PATCHES }, (side) =>
      patches[side].rate(PATCHES, (n) => ({ temperature: (n % 200) / 100 })),
    );
  } finally {
    for (const side of SIDES) await Promise.all([patches[side].stop(), servers[side].stop()]);
    await pooler.stop();
    await runAll(databaseUrl, [`alter role ${username} in database ${database} reset all`]);
  }
}

async function runAll(url: string, statements: readonly string[]): Promise<void> {
  const db = new Client({ connectionString: url });
  await db.connect();
  for (const statement of statements) await db.query(statement);
  await db.end();
}

interface Size {
  readonly what: string;
  readonly target: number;
  readonly requests: number;
}

type Work = Size & Omit<Load, "origin" | "connections">;

function worksOn(id: string): readonly Work[] {
  const start = {
    query: `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`,
    variables: { input: { assistantId: id, channel: "TEXT" } },
  };
  const get = { method: "GET", headers: HEADERS, target: READS } as const;
  return [
    { ...get, what: "assistant by id", path: `/rest/v1/assistants/${id}`, requests: 1_000 },
    { ...get, what: "page of assistants", path: "/rest/v1/assistants?page=2&take=20", requests: 400 },
    {
      what: "starting conversations",
      target: WRITES,
      ...{ method: "POST", path: "/graphql", requests: 200 },
      headers: { ...HEADERS, "Content-Type": "application/json" },
      body: JSON.stringify(start),
    },
  ];
}
