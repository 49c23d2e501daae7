import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { gql, HEADERS, percentile, send, type Bench } from "./bench";
import { addLogs, DAYS } from "./growth-data";
import type { Load } from "./load";

/** Logs of one assistant; the oldest tenth of them expires. Up to 10,000,000, for which set `MAX_SECONDS=14400`. */
const LOGS = Number(process.env.RETENTION_LOGS ?? 200_000);
/** Time limit of the measurement beside the deletion. */
const MAX_SECONDS = Number(process.env.MAX_SECONDS ?? 120);
/** Logs are spread evenly over `DAYS`, so a tenth is older. */
const KEPT_DAYS = Math.round(DAYS * 0.9);
const CONNECTIONS = 16;
const ROUNDS = 5;
const LEAST_SHARE = 0.9;
const TABLES = ["chats", "messages", "events", "deliveries"];

type Work = Omit<Load, "origin" | "connections">;

/** Measures how much other requests slow down while a tenth of all logs expires, and what the deletion leaves behind. */
export async function retention({ ours: server, databaseUrl, table, load, ids }: Bench): Promise<void> {
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  const { id } = await send<{ id: string }>(`${server.url}/rest/v1/assistants`, { name: `${LOGS} logs` });
  await addLogs(db, id, LOGS);
  await addEvents(db, id);
  const round = async (work: Work) =>
    work.requests / (await load.send({ ...work, origin: server.url, connections: CONNECTIONS }));
  const alone = new Map<string, number[]>();
  const beside = new Map<string, number[]>();
  const rounds = async (into: Map<string, number[]>) => {
    for (const [what, work] of Object.entries(await worksOf(server.url, ids.slice(100))))
      into.set(what, [...(into.get(what) ?? []), await round(work)]);
  };
  await rounds(new Map()); // warms up
  for (let count = 0; count < ROUNDS; count++) await rounds(alone);
  const watch = watchDead(db);
  const first = await expired(db, id);
  await gql(
    server.url,
    `mutation ($input: UpdateRetentionInput!) { updateRetention(input: $input) { logsDays } }`,
    {
      input: { logsDays: KEPT_DAYS },
    },
  );
  await db.query("select graphile_worker.add_job('retention.enforce')");
  const began = performance.now();
  let left = first;
  while (left > 0 && performance.now() - began < MAX_SECONDS * 1_000) {
    await rounds(beside);
    left = await expired(db, id);
  }
  const seconds = (performance.now() - began) / 1_000;
  table.add({ what: `logs deleted a second, of ${first}`, ours: (first - left) / seconds, unit: "/s" });
  for (const [what, rates] of beside) {
    const [ours, baseline] = [percentile(rates, 0.5), percentile(alone.get(what)!, 0.5)];
    table.add({ what: `${what} beside it`, target: LEAST_SHARE, ours, baseline, ratio: ours / baseline });
  }
  for (const [name, most] of await watch())
    table.add({ what: `deleted rows in ${name}, most at any time`, ours: most * 100, unit: "%", most: 20 });
  await db.end();
}

/** Logs that are due. */
async function expired(db: Client, assistantId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from chats where assistant_id = $1 and started_at < now() - interval '${KEPT_DAYS} days'`,
    [assistantId],
  );
  return rows[0]!.count;
}

/** Gives each log an event that was delivered, and waits until these deliveries are in the sums of their destination. */
async function addEvents(db: Client, assistantId: string): Promise<void> {
  await db.query("set session_replication_role = replica");
  await db.query(
    `insert into webhook_destinations (organization_id, id, url, sealed_secret, enabled)
     select organization_id, 'retention', 'https://example.com', '', false from assistants where id = $1`,
    [assistantId],
  );
  await db.query(
    `with made as (
       insert into events (organization_id, id, name, type, assistant_id, chat_id, body, transaction, created_at)
       select organization_id, 'e' || id, 'session-start', 'TEXT', assistant_id, id, '{}', '3'::xid8, started_at
       from chats where assistant_id = $1 returning organization_id, id, chat_id, created_at)
     insert into deliveries (organization_id, id, event_id, destination_id, chat_id, status, attempt, next_attempt_at, attempts,
       created_at, duration_ms)
     select organization_id, id, id, 'retention', chat_id, 'DELIVERED', 1, created_at,
       '[{"number": 1, "status": 200, "error": null, "answer": "ok", "startedAt": "2026-01-01T00:00:00.000Z", "durationMs": 12}]',
       created_at, 12 from made`,
    [assistantId],
  );
  await db.query("reset session_replication_role");
  await db.query("vacuum analyze");
  await db.query("select graphile_worker.add_job('deliveries.sum')");
  for (let counted = false; !counted; await sleep(1_000)) {
    const { rows } = await db.query<{ counted: boolean }>(
      `select h.until > now() - interval '1 day' as counted from delivery_sum_heads h
       join assistants a on a.organization_id = h.organization_id where a.id = $1`,
      [assistantId],
    );
    counted = rows[0]?.counted ?? false;
  }
}

/** Looks every 2 s. @returns a function that ends it and returns each table's largest share of dead rows */
function watchDead(db: Client): () => Promise<Map<string, number>> {
  const most = new Map(TABLES.map((name) => [name, 0]));
  let done = false;
  const watching = (async () => {
    while (!done) {
      const { rows } = await db.query<{ name: string; dead: number }>(
        `select relname as name, n_dead_tup / greatest(n_live_tup + n_dead_tup, 1)::float8 as dead
         from pg_stat_user_tables where relname = any($1)`,
        [TABLES],
      );
      for (const { name, dead } of rows) most.set(name, Math.max(most.get(name)!, dead));
      await sleep(2_000);
    }
  })();
  return async () => {
    done = true;
    await watching;
    return most;
  };
}

/** One record, a page, a search, and messages to a new conversation of another assistant, so that no round slows down the next. */
async function worksOf(url: string, [id, other]: readonly string[]): Promise<Readonly<Record<string, Work>>> {
  const get = (path: string, requests: number): Work => ({ method: "GET", path, headers: HEADERS, requests });
  const { startChat } = await gql<{ startChat: { id: string } }>(
    url,
    `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`,
    { input: { assistantId: other, channel: "TEXT" } },
  );
  const message = { aiChatId: startChat.id, role: "SYSTEM", channel: "TEXT", content: "noted", metadata: {} };
  return {
    "one assistant": get(`/rest/v1/assistants/${id}`, 2_000),
    "a page of assistants": get("/rest/v1/assistants?page=2&take=20", 1_000),
    "a search": get(`/rest/v1/assistants/${id}/logs?search=parcel`, 1_000),
    "a message": {
      ...{ method: "POST", path: "/rest/v1/ai-chats/messages", requests: 500 },
      headers: { ...HEADERS, "Content-Type": "application/json" },
      body: JSON.stringify(message),
    },
  };
}
