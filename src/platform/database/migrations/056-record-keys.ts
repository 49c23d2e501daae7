import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** Tables whose records can carry a key that the organization chooses, with the condition of those that count. */
const TABLES = {
  assistants: "key is not null and deleted_at is null",
  workflows: "key is not null",
  webhook_destinations: "key is not null",
  deployments: "key is not null",
} as const;

/** Keys by which files name their records. They are the same in every organization to which the files are applied. */
export async function up(db: Knex): Promise<void> {
  for (const table of Object.keys(TABLES)) await db.raw(`alter table ?? add column key text`, [table]);
}

/** A key names one live record of each table. */
export const online: readonly OnlineStep[] = Object.entries(TABLES).map(([table, condition]) => ({
  kind: "index",
  name: `${table}_by_key`,
  table,
  columns: `(organization_id, key) where ${condition}`,
  unique: true,
}));

export async function down(db: Knex): Promise<void> {
  for (const table of Object.keys(TABLES)) await db.raw(`alter table ?? drop column key`, [table]);
}
