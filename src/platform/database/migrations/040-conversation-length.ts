import type { Knex } from "knex";

/** In milliseconds. The same as in 009, because stored facts depend on them. */
const ANSWER_BOUNDS = [250, 500, 1000, 2000, 3000, 5000, 8000, 13000, 20000, 30000, 60000, 120000];
const BUCKETS = ANSWER_BOUNDS.map((_, index) => index).concat(ANSWER_BOUNDS.length);

/** Phrases of an assistant that does not know, in the languages of the widget, as a case-insensitive pattern. */
const NOT_KNOWN = [
  // English
  `i (do not|don.t) know|i (do not|don.t) have ((that|this|the|any|enough|more|specific) )*(information|details|data|access)`,
  `i( a|.)m (not sure|unable to|not able to (answer|find|help))`,
  `i (could not|couldn.t|can.t|cannot) (find|answer|help (you )?with)`,
  // German, French, Spanish, Italian, Portuguese, Dutch
  `(das )?weiß ich (leider )?nicht|ich weiß (es |das )?(leider )?nicht|(habe|liegen mir) (ich )?(dazu )?(leider )?keine informationen`,
  `je ne (le )?sais pas|je n.ai pas (d.|l.)information`,
  `no lo sé|no tengo (esa |ninguna )?información`,
  `non lo so|non ho informazioni`,
  `não sei|não tenho (essa )?informaç`,
  `dat weet ik (helaas )?niet|ik weet het (helaas )?niet`,
  // Polish, Turkish
  `nie wiem|nie mam (takich |tych |żadnych )?informacji`,
  `bilmiyorum|bilgim yok|bilgiye sahip değilim`,
  // Arabic, Hebrew
  `لا أعرف|لا أعلم|ليس(ت)? لدي (أي )?معلومات`,
  `אני לא יוד(ע|עת)|אין לי (את ה)?מידע`,
  // Japanese, Korean, Chinese
  `(わ|分)かりません|存じません|情報(は|が)(ありません|ございません)`,
  `모르겠(습니다|어요|네요)|(정보가|정보는) 없(습니다|어요)`,
  `我(也|还|還)?不(太)?(知道|清楚)|我(没|沒)有(相关|這方面|这方面|相關)?的?(信息|資訊)`,
].join("|");

/** Messages of a person and the assistant's answers. */
const questionOutcomes = (pattern: string) => `
  create or replace view question_outcomes with (security_invoker = true) as
  select m.organization_id, m.id, m.chat_id, c.assistant_id, c.channel, c.started_at,
    m.content as question, m.created_at as asked_at, answer.content as answer,
    case when answer.content is not null
      then greatest(0, round(extract(epoch from answer.created_at - m.created_at) * 1000))::bigint end as answer_ms,
    case when answer.content is null then case when c.status = 'ended' then 'NO_ANSWER' end
      when answer.metadata @> '{"error": true}' then 'ERROR'
      when answer.content ~* $$${pattern}$$ then 'NOT_KNOWN'
      else 'ANSWERED' end as outcome
  from messages m
  join chats c on c.organization_id = m.organization_id and c.id = m.chat_id
  left join lateral (
    select a.content, a.metadata, a.created_at from messages a
    where a.organization_id = m.organization_id and a.chat_id = m.chat_id and a.sequence > m.sequence
      and a.role = 'ASSISTANT' and a.content <> ''
    order by a.sequence limit 1
  ) answer on true
  where m.role = 'USER' and m.content <> ''`;

/** Longer pauses of a conversation do not count. */
const MAX_GAP_MINUTES = 5;

/**
 * A call lasts from its answer to its end. A text conversation lasts from its start to its last message, without the
 * gaps in which nobody wrote.
 */
const SECONDS = `
  case when c.ended_at is null then null
    when c.channel = 'VOICE' then greatest(0, round(extract(epoch from c.ended_at
      - coalesce((select k.answered_at from calls k where k.organization_id = c.organization_id and k.chat_id = c.id), c.started_at)
    )))::integer
    else said.seconds end`;

const conversationFacts = () => {
  const times = BUCKETS.map(
    (bucket) => `count(*) filter (where width_bucket(timed.ms, bounds.list) = ${bucket})::integer`,
  );
  return `
  create or replace view conversation_facts_computed with (security_invoker = true) as
  select c.organization_id, c.id as chat_id, c.assistant_id, c.channel, c.started_at,
    case when c.status = 'ended' then coalesce(c.ended_reason, 'unknown') end as ended_reason,
    ${SECONDS} as seconds,
    said.messages, asked.questions, asked.answers, asked.answer_ms, asked.answer_times,
    asked.not_known, asked.errors, asked.no_answer, c.counted
  from chats c
  cross join lateral (
    select count(*)::integer as messages,
      coalesce(round(sum(extract(epoch from gap)) filter (where gap between interval '0' and interval '${MAX_GAP_MINUTES} minutes')), 0)::integer
        as seconds
    from (
      select m.created_at - lag(m.created_at, 1, c.started_at) over (order by m.created_at) as gap
      from messages m
      where m.organization_id = c.organization_id and m.chat_id = c.id
        and m.role in ('USER', 'ASSISTANT') and m.content <> ''
    ) gaps
  ) said
  cross join lateral (
    select count(*)::integer as questions, count(timed.ms)::integer as answers,
      coalesce(sum(timed.ms), 0)::bigint as answer_ms, array[${times.join(", ")}] as answer_times,
      count(*) filter (where q.outcome = 'NOT_KNOWN')::integer as not_known,
      count(*) filter (where q.outcome = 'ERROR')::integer as errors,
      count(*) filter (where q.outcome = 'NO_ANSWER')::integer as no_answer
    from question_outcomes q
    cross join lateral (select case when q.outcome <> 'ERROR' then q.answer_ms end as ms) timed
    cross join (select array[${ANSWER_BOUNDS.join(", ")}]::bigint[] as list) bounds
    where q.organization_id = c.organization_id and q.chat_id = c.id
  ) asked`;
};

/**
 * Changes how conversations are measured. A job measures earlier ones again, in batches: `recount_facts_after` is
 * the last chat that it has reached, null when it has finished.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(questionOutcomes(NOT_KNOWN).replaceAll("?", "\\?")); // Knex takes a bare ? for a parameter
  await db.raw(conversationFacts());
  await db.raw(`alter table organizations add column recount_facts_after text collate "C"`);
  await db.raw(`update organizations set recount_facts_after = ''`);
  // Facts whose chat has been erased, or has lost messages, stay as they are.
  await db.raw(`
    create function parley_recount_facts(most integer) returns integer
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare owner text; place text; ids text[];
    begin
      select o.id, o.recount_facts_after into owner, place from public.organizations o
        where o.recount_facts_after is not null limit 1 for update skip locked;
      if owner is null then return 0; end if;
      select array_agg(next.chat_id order by next.chat_id) into ids from (
        select k.chat_id from public.conversation_facts_kept k
        where k.organization_id = owner and k.chat_id > place order by k.chat_id limit most
      ) next;
      update public.conversation_facts_kept k set seconds = f.seconds, not_known = f.not_known
        from public.conversation_facts_computed f
        where k.organization_id = owner and k.chat_id = any(ids) and f.organization_id = owner and f.chat_id = k.chat_id
          and f.messages = k.messages and f.questions = k.questions;
      update public.organizations o set recount_facts_after = ids[cardinality(ids)] where o.id = owner;
      return most;
    end $$`);
}

/** The views stay: they have the same columns as before, and facts were stored with them. */
export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_recount_facts(integer)`);
  await db.raw(`alter table organizations drop column recount_facts_after`);
}
