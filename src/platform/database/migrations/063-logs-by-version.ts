import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** The index is built while servers run. */
export async function up(): Promise<void> {}

/** Logs of one version of an assistant. The channel is last, so that a rare one is found without reading rows. */
export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "chats_by_version",
    table: "chats",
    columns:
      "(organization_id, assistant_id, assistant_version, started_at, id, channel) where assistant_version is not null",
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index if exists chats_by_version`);
}
