import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/**
 * The version that a conversation runs to its end. `assistant_version` is null in chats of older servers, which follow the
 * assistant. `speaker_versions` has a number by the id of each assistant of the workflow. `chat_drafts` has a copy of the
 * draft for chats that run one. `version_files` names files that only other versions of an assistant, or its draft, have.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table chats add column assistant_version integer`);
  await db.raw(`alter table chats add column runs_draft boolean not null default false`);
  await db.raw(`alter table chats add column speaker_versions jsonb`);
  await db.raw(`alter table deployments add column assistant_version integer`);
  await createTenantTable(
    db,
    "chat_drafts",
    `chat_id text collate "C" not null, content jsonb not null, sealed_secrets text,
    foreign key (organization_id, chat_id) references chats (organization_id, id) on delete cascade`,
    "chat_id",
  );
  await createTenantTable(
    db,
    "version_files",
    `assistant_id text collate "C" not null, file_id text collate "C" not null,
    foreign key (organization_id, assistant_id) references assistants (organization_id, id) on delete cascade,
    foreign key (organization_id, file_id) references files (organization_id, id) on delete cascade`,
    "assistant_id, file_id",
  );
  await db.raw(`create index version_files_by_file on version_files (organization_id, file_id)`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table version_files, chat_drafts`);
  await db.raw(`alter table deployments drop column assistant_version`);
  await db.raw(`alter table chats drop column speaker_versions`);
  await db.raw(`alter table chats drop column runs_draft`);
  await db.raw(`alter table chats drop column assistant_version`);
}
