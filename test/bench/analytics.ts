import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { gql, percentile, type Bench } from "./bench";

const CHATS = 100_000;
const MESSAGES_EACH = 10;
const DELIVERIES = 300_000;
const DAYS = 90;
const ASKED = 30;
/** Conversations that go on while statistics are read, and how many of them have a new message since the last job. */
const LIVE = 3_000;
const CHANGED = 300;

const TOTALS = `conversations messages averageMessages averageSeconds questions unanswered
  answerTimes { p50Ms p95Ms buckets { from to count } }`;
/** The query of the analytics page, including the previous period. */
const PAGE = `query ($now: AnalyticsInput!, $before: AnalyticsInput!) {
  now: analytics(input: $now) {
    totals { ${TOTALS} } days { date conversations channels { channel conversations } answerTimes { p50Ms p95Ms } }
    assistants { assistantId name conversations } endReasons { reason conversations }
    lengths { messages { count } seconds { count } } functions { name calls failed }
    unansweredQuestions(first: 10) { question answer reason } failingDestinations { host }
    webhooks { deliveries days { date delivered failed medianMs } }
  }
  before: analytics(input: $before) { totals { ${TOTALS} } functions { name calls } webhooks { delivered failed } }
}`;

/** Statistics of a million messages, as the analytics page reads them. */
export async function analytics({ ours, databaseUrl, table, ids }: Bench): Promise<void> {
  const db = new Client({ connectionString: databaseUrl });
  await db.connect();
  await fill(db, ids.slice(0, 20));
  const began = performance.now();
  for (let kept = 1; kept > 0;) {
    const { rows } = await db.query<{ kept: number }>("select parley_keep_facts(500) as kept");
    kept = rows[0]!.kept;
  }
  const each = (performance.now() - began) / CHATS;
  table.add({ what: "keeping the facts of an ended chat, on average", ours: each, unit: "ms", most: 2 });
  await settled(db, "parley_unsummed_organizations"); // as it has long been when people look at old conversations
  await db.query("vacuum analyze chats, conversation_facts_kept, function_facts_kept, deliveries");
  const ask = async (what: string, days: number, most: number) => {
    const times: number[] = [];
    for (let count = 0; count < ASKED; count++) {
      const began = performance.now();
      const conversations = await askAnalytics(ours.url, days);
      times.push(performance.now() - began);
      if (conversations < (CHATS * days) / DAYS - 1)
        throw new Error(`${conversations} conversations in ${days} days`);
    }
    const p95 = percentile(times.slice(2), 0.95); // the first requests read cold pages
    table.add({ what: `analytics page, ${what}, 95th percentile`, ours: p95, unit: "ms", most });
  };
  for (const days of [30, DAYS]) await ask(`${days} of ${DAYS} days`, days, 800);
  await resume(db, LIVE);
  await settled(db, "parley_unmeasured_chats");
  await db.query("update chats set event_count = event_count + 1 where id like 'stats-%' and id <= $1", [
    `stats-${String(CHANGED).padStart(7, "0")}`,
  ]);
  await db.end();
  await ask(`30 of ${DAYS} days, ${LIVE} conversations going on, ${CHANGED} changed`, 30, 300);
}

/** Waits until the server's jobs have nothing left to do in any organization, by the function that lists those with work. */
async function settled(db: Client, list: "parley_unsummed_organizations" | "parley_unmeasured_chats") {
  for (;;) {
    const { rows } = await db.query(`select from ${list}()`);
    if (rows.length === 0) return;
    await pause(1_000);
  }
}

/** Turns the newest logs into conversations that have not ended. */
async function resume(db: Client, count: number): Promise<void> {
  await db.query(
    `with resumed as (select organization_id, id from chats where id like 'stats-%' order by id limit $1),
       forgotten as (delete from conversation_facts_kept k using resumed r where (k.organization_id, k.chat_id) = (r.organization_id, r.id))
     update chats c set status = 'in-progress', ended_at = null, ended_reason = null, counted = false
     from resumed r where (c.organization_id, c.id) = (r.organization_id, r.id)`,
    [count],
  );
}

/** Asks for what the analytics page shows. @returns the number of conversations in the last days */
export async function askAnalytics(url: string, days: number): Promise<number> {
  const to = Date.now();
  const moment = (ago: number) => new Date(to - ago * 86_400_000).toISOString();
  const { now } = await gql<Answer>(url, PAGE, {
    now: { from: moment(days), to: moment(0), timezone: "Europe/Zurich" },
    before: { from: moment(2 * days), to: moment(days), timezone: "Europe/Zurich" },
  });
  return now.totals.conversations;
}

interface Answer {
  readonly now: { readonly totals: { readonly conversations: number } };
}

async function fill(db: Client, assistantIds: readonly string[]): Promise<void> {
  await db.query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, message_count, started_at, ended_at, ended_reason)
     select a.organization_id, 'stats-' || lpad(n::text, 7, '0'), a.id, (array['TEXT', 'VOICE', 'SMS'])[1 + n % 3], 'ended', 'none', 'Caller ' || n,
       $2, at, at + (20 + n % 1800) * interval '1 second', (array['idle-timeout', 'ended-by-api', 'assistant-ended'])[1 + n % 3]
     from generate_series(1, $3::int) n
     join assistants a on a.id = ($1::text[])[1 + n % cardinality($1::text[])],
     lateral (select now() - n::float8 / $3 * $4 * interval '1 day' as at) began`,
    [assistantIds, MESSAGES_EACH, CHATS, DAYS],
  );
  await db.query(
    `insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content, tool_call_id, tool_calls, created_at)
     select c.organization_id, c.id || '-' || m, c.id, c.assistant_id, m, role, c.channel,
       case when role = 'USER' then 'When are you open?' when hashtext(c.id || m) % 20 = 0 then 'I don''t know.' else 'From nine to five.' end,
       case when role = 'TOOL' then c.id end,
       case when m = 3 then json_build_array(json_build_object('id', c.id, 'name', 'book', 'arguments', '{}'::json)) end,
       c.started_at + m * (1 + abs(hashtext(c.id || m)) % 4000 / 1000.0) * interval '1 second'
     from chats c, generate_series(1, $1::int) m,
       lateral (select case when m = 4 then 'TOOL' when m % 2 = 1 then 'ASSISTANT' else 'USER' end as role) spoken
     where c.id like 'stats-%'`,
    [MESSAGES_EACH],
  );
  await deliver(db);
  await db.query("vacuum analyze chats, messages");
}

/** Inserts the deliveries of 30 days. */
async function deliver(db: Client): Promise<void> {
  const { rows } = await db.query<{ organization_id: string }>(
    "select organization_id from chats where id = 'stats-0000001'",
  );
  const values = [rows[0]!.organization_id, DELIVERIES];
  await db.query(
    `insert into webhook_destinations (organization_id, id, url, sealed_secret) values ($1, 'stats', 'https://example.com', '')`,
    values.slice(0, 1),
  );
  await db.query(
    `insert into events (organization_id, id, name, type, assistant_id, body, created_at)
     select $1, 'stats-' || n, 'conversation-updated', 'TEXT', 'none', '{}', now() - n::float8 / $2 * interval '30 days'
     from generate_series(1, $2::int) n`,
    values,
  );
  await db.query(
    `insert into deliveries (organization_id, id, event_id, destination_id, status, attempt, duration_ms, attempts, created_at)
     select organization_id, id, id, 'stats', case when hashtext(id) % 50 = 0 then 'FAILED' else 'DELIVERED' end,
       1 + abs(hashtext(id)) % 2, abs(hashtext(id)) % 2000, '[{"number": 1, "status": 200}]', created_at
     from events where organization_id = $1 and id like 'stats-%'`,
    values.slice(0, 1),
  );
}
