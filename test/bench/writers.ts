import type { Knex } from "knex";
import { Client } from "pg";
import { Messages } from "../../src/chats/chats/messages";
import { connect } from "../../src/platform/database/connections/connect";
import { Database } from "../../src/platform/database/database";
import { Listener } from "../../src/platform/database/notifications/listener";
import type { Scope } from "../../src/platform/database/scope";
import { offlinePorts } from "../../src/platform/providers/offline";
import { readConfig } from "../../src/platform/settings/config";
import { type Bench, newChat } from "./bench";
import { ratio, type Table } from "./table";

const WRITERS = 32;
const ROUNDS = 9;
const ROUND_MS = 2_000;
/** Reads notifications, as other servers do. */
const LISTENERS = 3;
/** A task that no server knows: its jobs wait. */
const TASK = "bench.none";

/**
 * Measures 32 concurrent writers on the service's own statements, with and without a NOTIFY in each transaction, by turns.
 * Afterwards the notifications of committed changes are sent in batches either way, as the service does.
 */
export async function writers({ ours, databaseUrl, ids, table }: Bench): Promise<void> {
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  const listeners = Array.from({ length: LISTENERS }, () => new Listener(databaseUrl, ["parley_events"]));
  await Promise.all(listeners.map((listener) => listener.start()));
  const ports = {
    ...offlinePorts(readConfig({ ENCRYPTION_KEYS: "a key that encrypts nothing at all" })),
    listener: listeners[0]!,
  };
  const knex = connect(databaseUrl, { pool: WRITERS });
  try {
    const { rows } = await db.query<{ id: string }>("select id from organizations where is_default");
    const scope = new Database(knex, ports).scope(rows[0]!.id);
    const chats = await Promise.all(ids.slice(0, WRITERS).map((id) => newChat(ours.url, id)));
    await messages(db, scope, chats, table);
    await jobs(db, scope, knex, table);
  } finally {
    await Promise.all(listeners.map((listener) => listener.stop()));
    await knex.destroy();
    await db.end();
  }
}

/** Stores messages. A trigger notifies in the transaction of each, as the service once did. */
async function messages(db: Client, scope: Scope, chats: readonly string[], table: Table) {
  await db.query(`
    create function bench_notify() returns trigger language plpgsql as $$
      begin perform pg_notify('parley_bench', new.id); return null; end $$;
    create trigger bench_notify after insert on events for each row execute function bench_notify()`);
  const message = { role: "SYSTEM", channel: "TEXT", content: "noted", metadata: {} } as const;
  const post = (writer: number) => scope.of(Messages).post({ ...message, aiChatId: chats[writer]! });
  const both = {
    ours: { before: "alter table events disable trigger bench_notify", write: post },
    baseline: { before: "alter table events enable trigger bench_notify", write: post },
  };
  await compare("32 writers of messages, beside NOTIFY in each transaction", db, both, table);
  await db.query("drop trigger bench_notify on events; drop function bench_notify");
}

/** Enqueues jobs, beside graphile-worker's own function, which notifies. */
async function jobs(db: Client, scope: Scope, knex: Knex, table: Table) {
  const clear = `select graphile_worker.complete_jobs(array(
    select id from graphile_worker.jobs where task_identifier = '${TASK}'))`;
  const loud = `select graphile_worker.add_job('${TASK}', '{}', max_attempts => 1)`;
  const both = {
    ours: { before: clear, write: () => scope.enqueue(TASK, {}, { attempts: 1 }) },
    baseline: { before: clear, write: () => knex.raw(loud) },
  };
  await compare("32 writers of jobs, beside NOTIFY in each transaction", db, both, table);
  await db.query(clear);
}

interface Side {
  readonly before: string;
  readonly write: (writer: number) => PromiseLike<unknown>;
}

async function compare(
  what: string,
  db: Client,
  both: Readonly<Record<"ours" | "baseline", Side>>,
  table: Table,
) {
  const rounds: { ours: number; baseline: number }[] = [];
  for (let number = 0; number <= ROUNDS; number++) {
    const order = number % 2 === 0 ? (["ours", "baseline"] as const) : (["baseline", "ours"] as const);
    const rates = { ours: 0, baseline: 0 };
    for (const name of order) {
      await db.query(both[name].before);
      rates[name] = await rateOf(both[name].write);
    }
    if (number > 0) rounds.push(rates); // the first one warms up
  }
  const rates = rounds.map(({ ours, baseline }) => `${ours.toFixed(0)}:${baseline.toFixed(0)}`);
  console.error(`${what}: ${rates.join(" ")}`);
  table.add({ what, target: 1, ...ratio(rounds) });
}

/** Writes per second of all writers together. */
async function rateOf(write: Side["write"]): Promise<number> {
  const began = performance.now();
  let written = 0;
  const one = async (writer: number) => {
    for (; performance.now() - began < ROUND_MS; written++) await write(writer);
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => one(writer)));
  return (written * 1_000) / (performance.now() - began);
}
