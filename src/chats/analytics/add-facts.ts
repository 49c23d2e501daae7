import type { Knex } from "knex";
import type { Scope } from "../../platform/database/scope";
import { unprepared, type Statement } from "../../platform/database/statement";
import { inBatches } from "../../platform/jobs/rest";
import { CONVERSATION_FACTS, CONVERSATIONS, FUNCTION_FACTS } from "./measures";

/** Lock of the sums of an organization. */
const SUMS = "analytics.sums";
/** Conversations per transaction. */
const BATCH_SIZE = 500;

const HOUR = "date_trunc('hour', started_at, 'UTC')";
const QUARTER = "date_bin('15 minutes', started_at, timestamptz '0001-01-01Z')";
const DAY = "date_trunc('day', started_at, 'UTC')";

/** Adds to the sums in a row. Null stands for 0, because it takes no space. */
const onConflict = (table: string, key: string, sums: readonly string[], zero: "null" | "0") => {
  const total = (name: string) => `coalesce(${table}.${name}, 0) + coalesce(excluded.${name}, 0)`;
  const values = sums.map(
    (name) => `${name} = ${zero === "null" ? `nullif(${total(name)}, 0)` : total(name)}`,
  );
  return `on conflict (organization_id, ${key}) do update set ${values.join(", ")}`;
};

const NAMES = Object.keys(CONVERSATIONS);
const KEYS = {
  conversations: "assistant_id, unit, starts_at, channel",
  reasons: "assistant_id, starts_at, channel, reason",
  functions: "assistant_id, starts_at, channel, name",
};

/*
 * Each statement adds the facts of some conversations that are not summed yet ($2), and subtracts those of summed ones
 * ($3). Rows are changed in the order of their keys.
 */

const ADD_CONVERSATIONS = unprepared(({ db }) =>
  db.raw(`
  with facts as (
    select 1 as sign, ${CONVERSATION_FACTS} from conversation_facts_kept k
    where k.organization_id = $1 and k.chat_id = any($2::text[])
    union all
    select -1, ${CONVERSATION_FACTS} from conversation_facts_summed s
    where s.organization_id = $1 and s.chat_id = any($3::text[])
  )
  insert into conversation_sums (organization_id, ${KEYS.conversations}, ${NAMES.join(", ")})
  select $1, counted.assistant_id, slot.unit, slot.starts_at, channel,
    ${Object.values(CONVERSATIONS)
      .map((value) => `nullif(sum(sign * ${value}), 0)`)
      .join(", ")}
  from facts
  cross join lateral (values ('quarter', ${QUARTER}), ('day', ${DAY})) slot (unit, starts_at)
  cross join lateral (values (''), (facts.assistant_id)) counted (assistant_id)
  group by 2, 3, 4, 5 order by 2, 3, 4, 5
  ${onConflict("conversation_sums", KEYS.conversations, NAMES, "null")}`),
);

const ADD_END_REASONS = unprepared(({ db }) =>
  db.raw(`
  with facts as (
    select 1 as sign, ${CONVERSATION_FACTS} from conversation_facts_kept k
    where k.organization_id = $1 and k.chat_id = any($2::text[])
    union all
    select -1, ${CONVERSATION_FACTS} from conversation_facts_summed s
    where s.organization_id = $1 and s.chat_id = any($3::text[])
  )
  insert into end_reason_sums (organization_id, ${KEYS.reasons}, conversations)
  select $1, counted.assistant_id, ${HOUR}, channel, ended_reason, sum(sign)
  from facts cross join lateral (values (''), (facts.assistant_id)) counted (assistant_id)
  where ended_reason is not null
  group by 2, 3, 4, 5 order by 2, 3, 4, 5
  ${onConflict("end_reason_sums", KEYS.reasons, ["conversations"], "0")}`),
);

const ADD_FUNCTIONS = unprepared(({ db }) =>
  db.raw(`
  with facts as (
    select 1 as sign, ${FUNCTION_FACTS} from function_facts_kept k
    where k.organization_id = $1 and k.chat_id = any($2::text[])
    union all
    select -1, ${FUNCTION_FACTS} from function_facts_summed s
    where s.organization_id = $1 and s.chat_id = any($3::text[])
  )
  insert into function_sums (organization_id, ${KEYS.functions}, calls, failed)
  select $1, counted.assistant_id, ${HOUR}, channel, name, sum(sign * calls), sum(sign * failed)
  from facts cross join lateral (values (''), (facts.assistant_id)) counted (assistant_id)
  group by 2, 3, 4, 5 order by 2, 3, 4, 5
  ${onConflict("function_sums", KEYS.functions, ["calls", "failed"], "0")}`),
);

/*
 * Empty sums go, because a reason or the name of a function may contain words of a person. $2: chats whose summed facts
 * have been subtracted.
 */

const REMOVE_REASONS = unprepared(({ db }) =>
  db.raw(`
  with gone as materialized (
    select assistant_id, ${HOUR} as starts_at, channel, ended_reason from conversation_facts_summed s
    where s.organization_id = $1 and s.chat_id = any($2::text[])
  )
  delete from end_reason_sums r using gone
  where r.organization_id = $1 and r.assistant_id in ('', gone.assistant_id) and r.starts_at = gone.starts_at
    and r.channel = gone.channel and r.reason = gone.ended_reason and r.conversations = 0`),
);

const REMOVE_FUNCTIONS = unprepared(({ db }) =>
  db.raw(`
  with gone as materialized (
    select assistant_id, ${HOUR} as starts_at, channel, name from function_facts_summed s
    where s.organization_id = $1 and s.chat_id = any($2::text[])
  )
  delete from function_sums r using gone
  where r.organization_id = $1 and r.assistant_id in ('', gone.assistant_id) and r.starts_at = gone.starts_at
    and r.channel = gone.channel and r.name = gone.name and r.calls = 0`),
);

const FORGET_CONVERSATIONS = unprepared(({ db }) =>
  db.raw(
    "delete from conversation_facts_summed s where s.organization_id = $1 and s.chat_id = any($2::text[])",
  ),
);
const FORGET_FUNCTIONS = unprepared(({ db }) =>
  db.raw("delete from function_facts_summed s where s.organization_id = $1 and s.chat_id = any($2::text[])"),
);

// Citus refuses an insert of rows that are deleted on the same worker, unless it is a part.
const MOVE_CONVERSATIONS = unprepared(({ db, home }) =>
  db.raw(`
  with moved as (
    delete from conversation_facts_kept k where k.organization_id = $1 and k.chat_id = any($2::text[])
    returning ${CONVERSATION_FACTS}
  ), added as (
    insert into conversation_facts_summed (organization_id, ${CONVERSATION_FACTS})
    select ${home.id}, ${CONVERSATION_FACTS} from moved ${home.join} returning 1
  )
  select count(*) from added`),
);
const MOVE_FUNCTIONS = unprepared(({ db, home }) =>
  db.raw(`
  with moved as (
    delete from function_facts_kept k where k.organization_id = $1 and k.chat_id = any($2::text[])
    returning ${FUNCTION_FACTS}
  ), added as (
    insert into function_facts_summed (organization_id, ${FUNCTION_FACTS})
    select ${home.id}, ${FUNCTION_FACTS} from moved ${home.join} returning 1
  )
  select count(*) from added`),
);

/** A conversation with kept facts was counted again: its summed facts are outdated. */
const PUT_BACK_FUNCTIONS = unprepared(({ db }) =>
  db.raw(`
  insert into function_facts_kept (organization_id, ${FUNCTION_FACTS})
  select $1, ${FUNCTION_FACTS} from function_facts_summed s
  where s.organization_id = $1 and s.chat_id = any($2::text[]) and not exists (
    select from conversation_facts_kept k where k.organization_id = $1 and k.chat_id = s.chat_id)
  returning 1`),
);
const PUT_BACK_CONVERSATIONS = unprepared(({ db }) =>
  db.raw(`
  insert into conversation_facts_kept (organization_id, ${CONVERSATION_FACTS})
  select $1, ${CONVERSATION_FACTS} from conversation_facts_summed s
  where s.organization_id = $1 and s.chat_id = any($2::text[])
  on conflict do nothing`),
);

/** The next conversations that are not summed, by time, so that few sums change. */
const NEXT = unprepared<{ chatId: string; place: string }>(({ table, $, db }) => {
  const rows: Knex.QueryBuilder = table("conversation_facts_kept");
  return rows
    .select("chatId", db.raw("started_at::text as place"))
    .whereRaw("started_at >= ?::timestamptz", [$(1)])
    .orderByRaw("started_at limit ?", [$(2)])
    .forUpdate()
    .skipLocked();
});

interface AddLimits {
  /** Conversations per batch. */
  readonly most?: number;
  readonly batches?: number;
  /** Ends the run after the batch at hand, when the server stops. */
  readonly stop?: AbortSignal;
}

/**
 * Adds the facts of ended conversations to the sums. Each batch is one transaction, which removes the facts from the
 * ones to add: a crash, or several servers at once, add none twice. Rests after each batch.
 */
export async function addFacts(scope: Scope, limits: AddLimits = {}): Promise<void> {
  const { most = BATCH_SIZE, batches = Infinity, stop } = limits;
  let place = "-infinity";
  let left = batches;
  await inBatches(async () => {
    const reached = await addBatch(scope, place, most);
    place = reached ?? place;
    return reached !== undefined && --left > 0;
  }, stop);
}

/** Adds the facts of the next conversations. @returns where the next batch begins; undefined if this was the last */
async function addBatch(scope: Scope, from: string, most: number): Promise<string | undefined> {
  return scope.transaction(async (scope) => {
    if (!(await scope.tryLock(SUMS))) return undefined;
    const found = await scope.write(NEXT, [from, most]);
    const ids = found.map(({ chatId }) => chatId);
    await change(scope, ids, ids);
    await inOrder(scope, [MOVE_CONVERSATIONS, MOVE_FUNCTIONS], ids);
    return found.length < most ? undefined : found.at(-1)!.place;
  });
}

/**
 * Takes the facts of chats out of the sums, as if they had not been added yet. Runs in a transaction that has locked
 * the chats.
 */
export async function takeOutFacts(scope: Scope, chatIds: readonly string[]): Promise<void> {
  await scope.lock(SUMS);
  await inOrder(scope, [PUT_BACK_FUNCTIONS, PUT_BACK_CONVERSATIONS], chatIds);
  await change(scope, [], chatIds);
}

/** Adds facts that are not summed, and subtracts and deletes summed ones. */
async function change(scope: Scope, added: readonly string[], removed: readonly string[]): Promise<void> {
  for (const add of [ADD_CONVERSATIONS, ADD_END_REASONS, ADD_FUNCTIONS])
    await scope.write(add, [added, removed]);
  await inOrder(scope, [REMOVE_REASONS, REMOVE_FUNCTIONS, FORGET_CONVERSATIONS, FORGET_FUNCTIONS], removed);
}

/** One after another, so that transactions lock rows in the same order. */
async function inOrder(
  scope: Scope,
  statements: readonly Statement<unknown>[],
  chatIds: readonly string[],
): Promise<void> {
  for (const each of statements) await scope.write(each, [chatIds]);
}
