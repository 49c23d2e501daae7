import { CONFIGURATIONS } from "../../assistants/configurations/configurations";
import { readFunction } from "../../assistants/configurations/functions";
import { ENDED_REASONS } from "../../chats/chats/ended-reasons";
import { takeOutFacts } from "../../chats/analytics/add-facts";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { statement, unprepared } from "../../platform/database/statement";

/** Known end reasons. Other reasons may contain a person's words and are counted as `other`. */
const KNOWN_REASONS = Object.keys(ENDED_REASONS);
/** The service's built-in functions. */
const BUILT_IN_FUNCTIONS = ["end_call", "dial_keypad", "search_knowledge", "remember_fact"];

/**
 * Stores the analytics facts of ended chats that are not counted yet, before their content is removed. Runs in a
 * transaction that has locked the chats.
 */
export async function keepAggregates(scope: Scope, chatIds: readonly string[]): Promise<void> {
  await scope.write(KEEP_CONVERSATIONS, [chatIds]);
  await scope.write(KEEP_FUNCTIONS, [chatIds]);
  await scope.table("chats").whereIn("id", chatIds).where({ counted: false }).update({ counted: true });
}

/**
 * Anonymizes the analytics facts of chats: random ids, times by the hour, and no text except names given by the
 * organization or the service.
 */
export async function detachAggregates(
  scope: Scope,
  chats: readonly { readonly id: string; readonly assistantId: string }[],
): Promise<void> {
  const ids = chats.map(({ id }) => id);
  const fresh = ids.map(() => newId());
  await takeOutFacts(scope, ids);
  const known = [...BUILT_IN_FUNCTIONS, ...(await functionNames(scope, chats))];
  await scope.table("function_facts_kept").whereIn("chatId", ids).whereNotIn("name", known).delete();
  await scope.write(DETACH_FUNCTIONS, [ids, fresh]);
  await scope.write(DETACH_CONVERSATIONS, [ids, fresh, KNOWN_REASONS]);
}

/** Names of the functions in the configurations of these chats' assistants. */
async function functionNames(
  scope: Scope,
  chats: readonly { readonly assistantId: string }[],
): Promise<string[]> {
  const assistantIds = [...new Set(chats.map(({ assistantId }) => assistantId))];
  const { voice, sms, chat } = CONFIGURATIONS;
  const rows = await Promise.all(
    [voice, sms, chat].map((table) =>
      scope.table(table).select("functions").whereIn("assistantId", assistantIds),
    ),
  );
  return rows
    .flat()
    .flatMap(({ functions }) =>
      functions.map(readFunction).flatMap((one) => (typeof one === "string" ? [] : one.name)),
    );
}

const KEEP_CONVERSATIONS = statement(({ db }) =>
  db.raw(`
  insert into conversation_facts_kept (organization_id, chat_id, assistant_id, channel, started_at, ended_reason, seconds,
    messages, questions, answers, answer_ms, answer_times, not_known, errors, no_answer)
  select f.organization_id, f.chat_id, f.assistant_id, f.channel, f.started_at, f.ended_reason, f.seconds,
    f.messages, f.questions, f.answers, f.answer_ms, f.answer_times, f.not_known, f.errors, f.no_answer
  from conversation_facts_computed f
  where f.organization_id = $1 and f.chat_id = any($2::text[]) and not f.counted
  on conflict do nothing`),
);

const KEEP_FUNCTIONS = statement(({ db }) =>
  db.raw(`
  insert into function_facts_kept (organization_id, chat_id, name, assistant_id, channel, started_at, calls, failed)
  select f.organization_id, f.chat_id, f.name, f.assistant_id, f.channel, f.started_at, f.calls, f.failed
  from function_facts_computed f
  where f.organization_id = $1 and f.chat_id = any($2::text[]) and not f.counted
  on conflict do nothing`),
);

/** Unlike `date_trunc` with a time zone, immutable: a Citus cluster needs that in changes. */
const HOUR = "date_trunc('hour', f.started_at at time zone 'UTC') at time zone 'UTC'";

const DETACH_FUNCTIONS = unprepared(({ db }) =>
  db.raw(`
  update function_facts_kept f set chat_id = fresh.id, started_at = ${HOUR}
  from unnest($2::text[], $3::text[]) as fresh (chat_id, id)
  where f.organization_id = $1 and f.chat_id = fresh.chat_id`),
);

const DETACH_CONVERSATIONS = unprepared(({ db }) =>
  db.raw(`
  update conversation_facts_kept f set chat_id = fresh.id, started_at = ${HOUR},
    ended_reason = case when f.ended_reason = any($4::text[]) then f.ended_reason when f.ended_reason is not null then 'other' end
  from unnest($2::text[], $3::text[]) as fresh (chat_id, id)
  where f.organization_id = $1 and f.chat_id = fresh.chat_id`),
);
