import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** The index is built while servers run. */
export async function up(): Promise<void> {}

/** Finds what all assistants remember of a person without reading the rows of other people. */
export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "end_users_of_person",
    table: "end_users",
    columns: "(organization_id, unique_id, id)",
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index if exists end_users_of_person`);
}
