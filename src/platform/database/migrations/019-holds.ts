import type { Knex } from "knex";

/**
 * While a row has no `released_at`, no job runs and nothing is sent: a restored copy must not repeat what the original
 * has done since, nor an original what its copy does now.
 */
export async function up(db: Knex): Promise<void> {
  // A restore makes the table before it loads a backup of any age.
  await db.raw(`
    create table if not exists holds (
      id text collate "C" primary key,
      reason text not null check (reason in ('RESTORED', 'MOVED')),
      note text not null,
      since timestamptz not null default now(),
      finished_at timestamptz,
      released_at timestamptz
    )`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table holds`);
}
