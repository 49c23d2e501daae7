import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** Progress of the changes that servers make to large tables while they run. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table online_steps (
      name text collate "C" primary key,
      cursor jsonb,
      started_at timestamptz not null default now(),
      done_at timestamptz
    )`);
}

/** All logs of an organization sort by the time at which they began, then id. */
export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "chats_of_organization_by_age",
    table: "chats",
    columns: "(organization_id, started_at, id)",
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index if exists chats_of_organization_by_age`);
  await db.raw(`drop table online_steps`);
}
