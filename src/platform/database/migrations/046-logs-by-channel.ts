import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** The indexes are built while servers run. */
export async function up(): Promise<void> {}

/** Logs of one channel, which may be rare among the others. */
export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "chats_by_channel",
    table: "chats",
    columns: "(organization_id, assistant_id, channel, started_at, id)",
  },
  {
    kind: "index",
    name: "chats_of_organization_by_channel",
    table: "chats",
    columns: "(organization_id, channel, started_at, id)",
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index if exists chats_of_organization_by_channel, chats_by_channel`);
}
