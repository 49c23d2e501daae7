import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** Indexes are built, and dropped, while servers run. */
export async function up(): Promise<void> {}

const audit = (name: string, columns: string): OnlineStep => ({
  kind: "index",
  name,
  table: "audit_events",
  columns,
});

/**
 * Finds events of a name, or of an assistant and a name, or near a time, among many others, the newest people, and entries of the audit log
 * by what few have in common. Most entries are about messages of chats.
 */
export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "events_of_name",
    table: "events",
    columns: "(organization_id, name, transaction, id) where transaction is not null",
  },
  {
    kind: "index",
    name: "events_of_assistant",
    table: "events",
    columns: "(organization_id, assistant_id, name, transaction, id) where transaction is not null",
  },
  {
    kind: "index",
    name: "events_by_time",
    table: "events",
    columns: "(organization_id, created_at) where transaction is not null",
  },
  {
    kind: "index",
    name: "end_users_by_age",
    table: "end_users",
    columns: "(organization_id, created_at, id)",
  },
  audit(
    "audit_of_operation",
    `(organization_id, operation, position) where operation <> 'postMessage' and operation <> 'postWidgetMessage'`,
  ),
  audit("audit_of_type", `(organization_id, record_type, position) where record_type <> 'Chat'`),
  // Without positions, equal values are stored once: each message adds an entry. Rare ones are sorted when they are read.
  audit("audit_of_key", "(organization_id, key_id) where key_id is not null"),
  audit("audit_of_address", "(organization_id, address) where address is not null"),
  audit("audit_disclosures", `(organization_id, position) where kind = 'DISCLOSURE'`),
  {
    kind: "backfill",
    name: "without_chats_age",
    table: "chats",
    batch: async (db) => {
      // Everything that reads chats waits behind this while an older transaction reads them.
      await db.raw(`set local lock_timeout = '2s'`);
      await db.raw(`drop index if exists chats_age`); // `chats_of_organization_by_age` begins with the same columns
      return null;
    },
  },
];

export async function down(db: Knex): Promise<void> {
  const indexes = online.flatMap(({ kind, name }) => (kind === "index" ? [name] : []));
  await db.raw(`drop index if exists ${indexes.join(", ")}`);
  await db.raw(`create index if not exists chats_age on chats (organization_id, started_at)`);
  await db.raw(`delete from online_steps where name = 'without_chats_age'`);
}
