import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/**
 * Changes of an assistant that are not published yet: the values of its document that differ, by their column, and the
 * new secrets of functions, sealed together as JSON by their slot.
 */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "assistant_drafts",
    `assistant_id text collate "C" not null, based_on integer not null, content jsonb not null, sealed_secrets text,
    updated_at timestamptz not null,
    foreign key (organization_id, assistant_id) references assistants (organization_id, id) on delete cascade`,
    "assistant_id",
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table assistant_drafts`);
}
