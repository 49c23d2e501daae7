import type { Knex } from "knex";

export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table assistant_files add column passages integer not null default 0`);
  await db.raw(`create index assistant_files_file on assistant_files (organization_id, file_id)`);
  // Beside those of files, passages of an assistant's own resources: only for what is known about each of them.
  await db.raw(`
    alter table passages
      add column page integer,
      add column assistant_id text collate "C",
      alter column file_id drop not null,
      add foreign key (organization_id, assistant_id) references assistants (organization_id, id) on delete cascade,
      add constraint passages_owner check ((file_id is null) <> (assistant_id is null))`);
  await db.raw(
    `create index passages_assistant on passages (organization_id, assistant_id) where assistant_id is not null`,
  );
  // Organizations are not known here: what is old goes from all of them. What failed lately can still be replayed.
  await db.raw(`
    create function parley_expire_events(before timestamptz, most integer) returns integer
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare gone integer;
    begin
      delete from public.events e using (
        select o.organization_id, o.id from public.events o
        where o.created_at < before and not exists (
          select 1 from public.deliveries d where d.organization_id = o.organization_id and d.event_id = o.id
            and (d.status = 'PENDING' or d.next_attempt_at >= before))
        order by o.created_at limit most for update skip locked
      ) old where e.organization_id = old.organization_id and e.id = old.id;
      get diagnostics gone = row_count;
      return gone;
    end $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_expire_events(timestamptz, integer)`);
  await db.raw(`drop table if exists passage_embeddings`); // made at the start, where the database knows vectors
  await db.raw(`delete from passages where file_id is null`);
  await db.raw(
    `alter table passages drop column assistant_id, drop column page, alter column file_id set not null`,
  );
  await db.raw(`drop index assistant_files_file`);
  await db.raw(`alter table assistant_files drop column passages`);
}
