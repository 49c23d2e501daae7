import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** Indexes are built while servers run. */
export async function up(): Promise<void> {}

/** Finds old texts, contacts by their number and exports that may have to be withdrawn, without the organization's others. */
export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "sms_received_by_age",
    table: "sms_received",
    columns: "(organization_id, created_at)",
  },
  { kind: "index", name: "sms_sent_by_age", table: "sms_sent", columns: "(organization_id, created_at)" },
  {
    kind: "index",
    name: "sms_contacts_number",
    table: "sms_contacts",
    columns: "(organization_id, phone_number)",
  },
  {
    kind: "index",
    name: "end_user_exports_live",
    table: "end_user_exports",
    columns: "(organization_id) where status in ('PENDING', 'RUNNING', 'DONE')",
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index if exists ${online.map(({ name }) => name).join(", ")}`);
}
