import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { unprepared } from "../../platform/database/statement";
import { inBatches } from "../../platform/jobs/rest";

/** Chats per statement that measures, as of ended chats, and per search for those that have changed. */
const BATCH_SIZE = 25;
const CHANGED = 5_000;

const COLUMNS = [
  "message_count",
  "event_count",
  "messages",
  "questions",
  "answers",
  "answer_ms",
  "answer_times",
  "not_known",
  "errors",
  "functions",
];
const REPLACE = `on conflict (organization_id, chat_id) do update
  set ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(", ")}`;

/*
 * Each chat is looked up by its id, not by an index of live ones: PostgreSQL cannot know how many are live at the moment.
 */

/** Removes what was measured of chats that have ended or are gone. */
const FORGET = unprepared(({ db }) =>
  db.raw(`
  delete from live_facts l where l.organization_id = $1 and coalesce((
    select c.counted or c.status = 'ended' from chats c where c.organization_id = $1 and c.id = l.chat_id), true)`),
);

/** Live chats that have changed since they were measured. */
const FIND = unprepared<{ id: string }>(({ db }) =>
  db.raw(`
  select c.id from chats c where c.organization_id = $1 and not c.counted and c.status <> 'ended' and (
    select true from live_facts l where l.organization_id = $1 and l.chat_id = c.id
      and l.message_count = c.message_count and l.event_count = c.event_count) is null
  limit $2`),
);

/** Measures chats. The counts are those of the measured messages. */
const MEASURE = unprepared(({ db }) =>
  db.raw(`
  insert into live_facts (organization_id, chat_id, ${COLUMNS.join(", ")})
  select $1, c.id, c.message_count, c.event_count, f.messages, f.questions, f.answers, f.answer_ms, f.answer_times,
    f.not_known, f.errors, coalesce((
      select jsonb_agg(jsonb_build_object('name', g.name, 'calls', g.calls, 'failed', g.failed))
      from function_facts_computed g where g.organization_id = $1 and g.chat_id = c.id), '[]')
  from chats c join conversation_facts_computed f on f.organization_id = $1 and f.chat_id = c.id
  where c.organization_id = $1 and c.id = any($2::text[])
  ${REPLACE}`),
);

/**
 * Measures the live chats of all organizations, so that statistics need not read what was said in those that wait for
 * their next message. Rests after each batch.
 */
export async function measureLiveChats(database: Database, stop?: AbortSignal): Promise<void> {
  for (const id of await database.organizationsToMeasure()) {
    if (stop?.aborted) return;
    await measureChats(database.scope(id), stop);
  }
}

async function measureChats(scope: Scope, stop?: AbortSignal): Promise<void> {
  await scope.write(FORGET, []);
  const ids = (await scope.read(FIND, [CHANGED])).map(({ id }) => id);
  if (ids.length === 0) return; // only measures of ended chats were left
  await inBatches(async () => {
    await scope.write(MEASURE, [ids.splice(0, BATCH_SIZE)]);
    return ids.length > 0;
  }, stop);
}
