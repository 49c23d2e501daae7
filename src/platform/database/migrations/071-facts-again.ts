import type { Knex } from "knex";

/**
 * Servers of older versions left the facts about functions of a call whose report came late, and the job that measures
 * conversations failed on the next one for all organizations. It now removes what is left.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create or replace function parley_keep_facts(most integer) returns integer
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare owners text[]; ids text[];
    begin
      select array_agg(ended.organization_id), array_agg(ended.id) into owners, ids from (
        select c.organization_id, c.id from public.chats c where not c.counted and c.status = 'ended'
        limit most for update skip locked
      ) ended;
      delete from public.conversation_facts_kept k using unnest(owners, ids) ended (organization_id, id)
        where k.organization_id = ended.organization_id and k.chat_id = ended.id;
      delete from public.function_facts_kept k using unnest(owners, ids) ended (organization_id, id)
        where k.organization_id = ended.organization_id and k.chat_id = ended.id;
      insert into public.conversation_facts_kept
        select f.organization_id, f.chat_id, f.assistant_id, f.channel, f.started_at, f.ended_reason, f.seconds,
          f.messages, f.questions, f.answers, f.answer_ms, f.answer_times, f.not_known, f.errors, f.no_answer
        from unnest(owners, ids) ended (organization_id, id)
        join public.conversation_facts_computed f on f.organization_id = ended.organization_id and f.chat_id = ended.id;
      insert into public.function_facts_kept
        select f.organization_id, f.chat_id, f.name, f.assistant_id, f.channel, f.started_at, f.calls, f.failed
        from unnest(owners, ids) ended (organization_id, id)
        join public.function_facts_computed f on f.organization_id = ended.organization_id and f.chat_id = ended.id;
      update public.chats c set counted = true from unnest(owners, ids) ended (organization_id, id)
        where c.organization_id = ended.organization_id and c.id = ended.id;
      return coalesce(cardinality(ids), 0);
    end $$`);
}

/** The function stays: it does all that the former one did. */
export async function down(): Promise<void> {}
