import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** Indexes are built while servers run. */
export async function up(): Promise<void> {}

/** Finds the entries of the audit log by or about few among many others. */
export const online: readonly OnlineStep[] = [
  { kind: "index", name: "audit_of_actor", table: "audit_events", columns: "(organization_id, actor)" },
  {
    kind: "index",
    name: "audit_of_person",
    table: "audit_events",
    columns: "(organization_id, person, position) where person is not null",
  },
  {
    kind: "index",
    name: "audit_of_digests",
    table: "audit_events",
    columns: `using gin (jsonb_path_query_array(fields, '$[*].digest')) where jsonb_path_exists(fields, '$[*].digest')`,
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index if exists ${online.map(({ name }) => name).join(", ")}`);
}
