import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";
import { createTenantTable } from "./tenant-table";

const ASSISTANT = `assistant_id text collate "C" not null`;

/**
 * Versions of assistants. `content` has the values of a document by their column, such as `chat.prompt`: a list with
 * the value, or the digest of a long one, which `version_texts` has once for all versions of the assistant.
 * `version_heads` has the content of the current version, so that a change of one value makes a whole version in one
 * statement.
 */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "version_heads",
    `${ASSISTANT}, number integer not null, content jsonb not null,
    foreign key (organization_id, assistant_id) references assistants (organization_id, id) on delete cascade`,
    "assistant_id",
  );
  // Each change replaces the row: it stays in its page, and its content, a few kB, stays in the row.
  await db.raw(`alter table version_heads set (fillfactor = 50, toast_tuple_target = 8160)`);
  await createTenantTable(
    db,
    "assistant_versions",
    `${ASSISTANT}, number integer not null, content jsonb not null, note text, actor text not null,
    key_id text collate "C", user_id text collate "C", created_at timestamptz not null`,
    "assistant_id, number",
  );
  await db.raw(
    `create index assistant_versions_of_users on assistant_versions (organization_id, user_id) where user_id is not null`,
  );
  await createTenantTable(
    db,
    "version_texts",
    `${ASSISTANT}, digest text collate "C" not null, content text not null`,
    "assistant_id, digest",
  );
  await createTenantTable(
    db,
    "function_secrets",
    `${ASSISTANT}, slot text collate "C" not null, sealed_secret text not null`,
    "assistant_id, slot",
  );
  await db.raw(UNVERSIONED);
}

// The job that makes first versions does not know the organizations, and may have no right to change the table of steps.
const UNVERSIONED = `
  create function parley_unversioned_assistants(most integer) returns table (organization_id text, assistant_id text)
  language plpgsql security definer set search_path = pg_catalog, public as $$
  begin
    return query select a.organization_id::text, a.id::text from public.assistants a
      left join public.version_heads h on h.organization_id = a.organization_id and h.assistant_id = a.id
      where h.assistant_id is null limit most;
    if not found then
      insert into public.online_steps (name, done_at) values ('first_versions', now()) on conflict (name) do nothing;
    end if;
  end $$`;

/** Older servers change assistants without making versions, so that no version is made before they are gone. */
export const online: readonly OnlineStep[] = [{ kind: "switch", name: "keep_versions", mark: "versions" }];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_unversioned_assistants(integer)`);
  await db.raw(`drop table function_secrets, version_texts, assistant_versions, version_heads`);
  await db.raw(`delete from online_steps where name in ('keep_versions', 'first_versions')`);
}
