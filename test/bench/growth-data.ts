import type { Client } from "pg";
import { until } from "../support/until";

/** Days in which the logs began, whatever their number. */
export const DAYS = 90;
export const RARE_WORD = "zugzwang";
const RARE_LOGS = 12;
const MESSAGES_EACH = 2;
const TABLES = [
  "chats",
  "messages",
  "conversation_facts_kept",
  "events",
  "deliveries",
  "calls",
  "end_users",
  "audit_events",
];
/** From this number of logs on, indexes are made anew rather than extended. */
const MANY = 50_000;
const TEXTS = 5_000;
const VOCABULARY = `array['the','delivery','of','your','order','is','late','and','we','are','sorry','please','call','again','tomorrow',
  'morning','invoice','number','street','address','refund','account','password','help','thank','you','parcel','driver','window','name']`;

/** Gives an assistant logs with messages and statistics, as if jobs had worked on them. @param addMore adds to each log */
export async function addLogs(
  db: Client,
  assistantId: string,
  size: number,
  addMore?: (db: Client, assistantId: string, size: number) => Promise<void>,
): Promise<void> {
  await db.query("set statement_timeout = 0");
  await db.query("set maintenance_work_mem = '512MB'");
  const remake = size < MANY ? undefined : await dropIndexes(db);
  // Without checks of foreign keys, which take most of the time.
  await db.query("set session_replication_role = replica");
  await addChats(db, assistantId, size);
  await addMessages(db, assistantId, size);
  await addFacts(db, assistantId);
  await addMore?.(db, assistantId, size);
  await db.query("reset session_replication_role");
  await remake?.();
  await addBlocks(db, assistantId);
  await db.query("vacuum analyze");
  await runJobs(db);
  await db.query("vacuum analyze");
  await db.query("checkpoint");
}

/** @returns a function that makes them again */
async function dropIndexes(db: Client): Promise<() => Promise<void>> {
  const { rows } = await db.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = any($1::regclass[]) and not indisunique`,
    [TABLES],
  );
  await db.query(`drop index ${rows.map(({ name }) => name).join(", ")}`);
  return async () => {
    for (const { definition } of rows) await db.query(definition);
  };
}

async function addChats(db: Client, assistantId: string, size: number): Promise<void> {
  await db.query(
    `insert into chats (organization_id, id, assistant_id, channel, status, status_event_id, label, message_count,
       started_at, last_message_at, ended_at, ended_reason, counted)
     select a.organization_id, left(h, 8) || '-' || right(h, 4) || '-7' || left(m, 3) || '-8' || substr(m, 4, 3) || '-' || right(m, 12),
       a.id, case when n % 10 = 0 then 'VOICE' else 'TEXT' end, 'ended', 'none', 'Caller ' || n, $2, t, t, t + interval '1 minute',
       (array['idle-timeout', 'ended-by-api', 'assistant-ended'])[1 + n % 3], true
     from assistants a, generate_series(1, $3::int) n, lateral (select now() - n::float8 / $3 * $4 * interval '1 day' as t) at,
       lateral (select lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0') as h, md5(a.id || n) as m) hex
     where a.id = $1`,
    [assistantId, MESSAGES_EACH, size, DAYS],
  );
}

/** A job counts these blocks, because the chats were not noted. */
async function addBlocks(db: Client, assistantId: string): Promise<void> {
  await db.query(
    `insert into log_blocks (organization_id, assistant_id, channel, from_at, from_id)
     select organization_id, id, unnest(array['', 'TEXT', 'VOICE']), '-infinity', '' from assistants where id = $1
     on conflict do nothing`,
    [assistantId],
  );
}

/** One question in twenty is not answered, as the facts say. */
async function addMessages(db: Client, assistantId: string, size: number): Promise<void> {
  await db.query(
    `create temporary table texts as
     select t as place, string_agg((${VOCABULARY})[1 + (hashint8(t * 31 + w) & 2147483647) % 30], ' ') as text
     from generate_series(0::bigint, ${TEXTS - 1}) t, generate_series(1, 12) w group by t`,
  );
  await db.query("analyze texts");
  await db.query(
    `insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content, created_at)
     select c.organization_id, c.id || '-' || m, c.id, c.assistant_id, m, case when m % 2 = 0 then 'ASSISTANT' else 'USER' end, c.channel,
       case when m = 2 and h % 20 = 0 then 'I don''t know.' else text end
         || case when m = 1 and h % greatest($3::int / ${RARE_LOGS}, 1) = 1 then ' ${RARE_WORD}' else '' end,
       c.started_at + m * interval '1 second'
     from chats c cross join lateral (select hashtext(c.id) & 2147483647 as h) hashed cross join generate_series(1, $2::int) m
     join texts on place = (h / 20 + m) % ${TEXTS}
     where c.assistant_id = $1`,
    [assistantId, MESSAGES_EACH, size],
  );
  await db.query("drop table texts");
}

async function addFacts(db: Client, assistantId: string): Promise<void> {
  await db.query(
    `insert into conversation_facts_kept (organization_id, chat_id, assistant_id, channel, started_at, ended_reason, seconds,
       messages, questions, answers, answer_ms, answer_times, not_known, errors, no_answer)
     select organization_id, id, assistant_id, channel, started_at, ended_reason, 60, $2, 1, 1, 1000,
       array_fill(0, array[3]) || 1 || array_fill(0, array[9]), ((hashtext(id) & 2147483647) % 20 = 0)::int, 0, 0
     from chats where assistant_id = $1`,
    [assistantId, MESSAGES_EACH],
  );
}

/** Waits for the jobs that add up statistics and count logs. */
async function runJobs(db: Client): Promise<void> {
  // The new deliveries are older than those in the sums, which the service cannot know.
  await db.query("truncate delivery_sums, delivery_sum_gaps, delivery_sum_heads");
  const left = `select (select count(*) from conversation_facts_kept)::int + (select count(*) from log_blocks where logs is null)::int
    + (select count(*) from parley_uncounted_deliveries(now() - interval '1 hour'))::int as left`;
  await until(async () => {
    for (const task of ["facts.sum", "logs.count", "deliveries.sum"])
      await db.query("select graphile_worker.add_job($1, job_key => 'bench ' || $1)", [task]);
    const { rows } = await db.query<{ left: number }>(left);
    return rows[0]!.left === 0;
  }, 3_600_000);
}
