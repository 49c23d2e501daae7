import { Client } from "pg";
import { creation, grants, userOf } from "../../src/platform/database/upgrades/roles";
import { HEADERS, type Bench } from "./bench";
import { Patches } from "./patches";
import type { Running } from "./processes";
import { interleaved, SIDES, type Side } from "./rounds";

const ROUNDS = Number(process.env.GUARDS_ROUNDS ?? 15);
const CONNECTIONS = 8;
const READS = 1_000;
const CHANGES = 200;
/** Guards have no targets: the table adds up what they cost. */
const TARGET = 0;
/** The compiled modules, of which a preloaded one replaces a part. */
const MAIN = "dist/src/main.js";
const WITHOUT_AUDIT = "./test/bench/without-audit.cjs";
const ROLES = { serving: "bench_server", jobs: "bench_jobs" };

/** A server with a guard and one without. */
type Pair = Readonly<Record<Side, Running>>;

/** Compares servers with and without a guard, on one database, by turns: entries of the audit log, and row-level security. */
export async function guards(bench: Bench): Promise<void> {
  const { serve, databaseUrl, encryptionKeys } = bench;
  const settings = { DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: encryptionKeys(), HOST: "127.0.0.1" };
  const plain = await serve(settings, [MAIN]);
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  try {
    await audit(bench, db, {
      ours: plain,
      baseline: await serve(settings, ["--require", WITHOUT_AUDIT, MAIN]),
    });
    for (const role of Object.values(ROLES)) await db.query(creation(role, role));
    for (const statement of grants({ owner: userOf(databaseUrl), ...ROLES })) await db.query(statement);
    const as = (role: string) => Object.assign(new URL(databaseUrl), { username: role, password: role }).href;
    const secured = {
      ...settings,
      DATABASE_URL: as(ROLES.serving),
      DATABASE_OWNER_URL: databaseUrl,
      DATABASE_JOBS_URL: as(ROLES.jobs),
      ROW_LEVEL_SECURITY: "true",
    };
    await security(bench, { ours: await serve(secured, [MAIN]), baseline: plain });
    for (const role of Object.values(ROLES)) await db.query(`drop owned by ${role}; drop role ${role}`);
  } finally {
    await plain.stop();
    await db.end();
  }
}

async function audit(bench: Bench, db: Client, pair: Pair): Promise<void> {
  const entries = async () => {
    const counts = ["audit_outbox", "audit_events"].map((name) => `(select count(*) from ${name})`);
    const { rows } = await db.query<{ count: string }>(`select ${counts.join(" + ")} as count`);
    return Number(rows[0]!.count);
  };
  const before = await entries();
  await changes("with its audit entry, beside one without", bench, pair);
  const made = (await entries()) - before;
  await pair.baseline.stop();
  if (made !== CHANGES * (ROUNDS + 1))
    throw new Error(`${CHANGES * (ROUNDS + 1)} changes on each of two servers have made ${made} entries.`);
}

async function security(bench: Bench, pair: Pair): Promise<void> {
  const { load, table, ids } = bench;
  const beside = "under row-level security, beside one without";
  const paths = {
    "assistant by id": `/rest/v1/assistants/${ids[100]!}`,
    "page of assistants": "/rest/v1/assistants?page=2&take=20",
  };
  for (const [what, path] of Object.entries(paths))
    await interleaved(`${what} ${beside}`, TARGET, ROUNDS, table, async (side) => {
      const work = { origin: pair[side].url, method: "GET", path, headers: HEADERS } as const;
      return READS / (await load.send({ ...work, requests: READS, connections: CONNECTIONS }));
    });
  await changes(beside, bench, pair);
  await pair.ours.stop();
}

async function changes(what: string, { table, ids }: Bench, pair: Pair): Promise<void> {
  const of = (side: Side) => new Patches(pair[side].url, ids.slice(0, CONNECTIONS));
  const patches = { ours: of("ours"), baseline: of("baseline") };
  await interleaved(`PATCH of a number ${what}`, TARGET, ROUNDS, table, (side) =>
    patches[side].rate(CHANGES, (n) => ({ temperature: (n % 200) / 100 })),
  );
  for (const side of SIDES) await patches[side].stop();
}
