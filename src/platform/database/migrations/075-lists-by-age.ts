import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** Indexes are built while servers run. */
export async function up(): Promise<void> {}

const index = (name: string, table: string, columns: string): OnlineStep => ({
  kind: "index",
  name,
  table,
  columns,
});

/** The column by which the entries of a list are sorted. */
const LISTS: Readonly<Record<string, string>> = {
  api_keys: "created_at",
  deployments: "created_at",
  end_user_exports: "requested_at",
  erasures: "requested_at",
  projects: "created_at",
  telephony_connections: "created_at",
  webhook_destinations: "created_at",
  workflows: "created_at",
};

/** Reads a page of a list without its other entries, and finds the rows that refer to a deleted record. */
export const online: readonly OnlineStep[] = [
  ...Object.entries(LISTS).map(([table, time]) =>
    index(`${table}_by_age`, table, `(organization_id, ${time}, id)`),
  ),
  index("delivery_sums_destination", "delivery_sums", "(organization_id, destination_id)"),
  index("sms_received_connection", "sms_received", "(organization_id, connection_id)"),
  index(
    "webhook_destinations_project",
    "webhook_destinations",
    "(organization_id, project_id) where project_id is not null",
  ),
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index if exists ${online.map(({ name }) => name).join(", ")}`);
}
