import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type * as migrationsModule from "../../src/platform/database/migrations";
import { startEmbedded } from "../../src/platform/database/embedded/embedded";
import { Api } from "../support/api";
import { Clients } from "../upgrades/clients";
import { checkOut, serve, thisVersion } from "../upgrades/version";
import { SECRET_KEY } from "./bench";
import type { Table } from "./table";

/** Logs of the older version, each with a message and an event. */
const ROWS = Number(process.env.UPGRADE_ROWS ?? 1_000_000);
const ALONE_MS = 20_000;
/** Pause of a client between two requests. */
const PAUSE_MS = 10;
const MIGRATIONS = "src/platform/database/migrations";

/** The version before the newest migration. */
function previous(): string {
  const newest = readdirSync(MIGRATIONS)
    .filter((name) => /^\d/.test(name))
    .sort()
    .at(-1)!;
  const added = ["log", "-1", "--format=%h", "--diff-filter=A", "--", `${MIGRATIONS}/${newest}`];
  return `${execFileSync("git", added, { encoding: "utf8" }).trim()}^`;
}

/** Measures the longest times for an answer of a server of an older version while this version migrates its database. */
export async function upgrade(table: Table, ref = previous()): Promise<void> {
  const older = checkOut(ref);
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-upgrade-"));
  const postgres = await startEmbedded({ dataDir: join(folder, "postgres"), log: () => undefined });
  const settings = {
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    ENCRYPTION_KEYS: "an encryption key that only benchmarks use",
    BOOTSTRAP_SECRET_KEY: SECRET_KEY,
    EMBEDDING_MODEL: "off",
    LOG_LEVEL: "warn",
  };
  const old = await serve(older, settings);
  try {
    await fill(postgres.url);
    const clients = new Clients(new Api(old.url, { "X-API-Key": SECRET_KEY }), PAUSE_MS);
    await clients.start();
    await sleep(ALONE_MS);
    clients.takeLongest(); // what the first requests load
    const report = (phase: string) => {
      const [kind, ms] = Object.entries(clients.takeLongest()).sort(([, a], [, b]) => b - a)[0]!;
      table.add({ what: `longest answer ${phase} (${kind})`, ours: ms, unit: "ms" });
    };
    await sleep(ALONE_MS);
    report(`of ${older.commit} alone, ${ROWS} logs`);
    const began = performance.now();
    const now = await serve(thisVersion(), settings);
    report("while migrations run");
    table.add({ what: "start of the new server", ours: (performance.now() - began) / 1_000, unit: "s" });
    while ((await indexesLeft(postgres.url)) > 0) await sleep(500);
    report("while indexes are built");
    table.add({ what: "until all indexes are built", ours: (performance.now() - began) / 1_000, unit: "s" });
    await clients.stop();
    table.add({ what: `failed requests, of ${clients.answered}`, ours: clients.failures.length, unit: "" });
    table.add({ what: "503 with Retry-After", ours: clients.refused, unit: "" });
    for (const failure of clients.failures.slice(0, 5)) console.error(failure);
    await now.stop();
  } finally {
    await old.stop();
    await postgres.stop();
    older.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onDatabase<T>(url: string, work: (db: Client) => Promise<T>): Promise<T> {
  const db = new Client({ connectionString: url });
  await db.connect();
  return work(db).finally(() => db.end());
}

/** From the build, because migrations are files of a folder. */
const migrations = createRequire(resolve("package.json"))(
  "./dist/src/platform/database/migrations",
) as typeof migrationsModule;

/** Number of the online indexes that do not exist yet. Other online steps wait for the older server to leave. */
async function indexesLeft(url: string): Promise<number> {
  const names = migrations.onlineSteps.filter(({ kind }) => kind === "index").map(({ name }) => name);
  const built =
    "select from pg_index join pg_class on oid = indexrelid where relname = any($1) and indisvalid";
  return onDatabase(url, async (db) => names.length - (await db.query(built, [names])).rowCount!);
}

/** Logs, messages and events that the older version could have stored. */
async function fill(url: string): Promise<void> {
  await onDatabase(url, async (db) => {
    await db.query(
      "set statement_timeout = 0; set session_replication_role = replica; set synchronous_commit = off",
    );
    await db.query(
      `insert into assistants (organization_id, id, name) select id, 'many', 'Many logs' from organizations where is_default`,
    );
    await db.query(
      `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, message_count,
         started_at, last_message_at, ended_at, ended_reason, counted)
       select a.organization_id, 'c' || lpad(n::text, 12, '0'), a.id, (array['TEXT', 'VOICE', 'SMS'])[1 + n % 3], 'ended', 'none',
         'Caller ' || n, 1, t, t, t + interval '1 minute', 'idle-timeout', true
       from assistants a, generate_series(1, $1::int) n, lateral (select now() - n * interval '1 second' as t) at
       where a.id = 'many'`,
      [ROWS],
    );
    await db.query(
      `insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content, created_at)
       select organization_id, 'm' || id, id, assistant_id, 1, 'USER', channel, 'Where is my parcel? ' || repeat(id, 5), started_at
       from chats where assistant_id = 'many'`,
    );
    await db.query(
      `insert into events (organization_id, id, name, type, assistant_id, chat_id, body, transaction, created_at)
       select organization_id, 'e' || id, 'session-start', 'TEXT', assistant_id, id, '{}', '3'::xid8, started_at
       from chats where assistant_id = 'many'`,
    );
    await db.query("reset session_replication_role");
    await db.query("vacuum analyze");
    await db.query("checkpoint");
  });
}
