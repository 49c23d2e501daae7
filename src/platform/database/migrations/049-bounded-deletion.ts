import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** The tables that grow with every conversation. */
const TABLES = ["chats", "messages", "events", "deliveries"];

/**
 * By default PostgreSQL cleans up a table when a fifth of its rows is dead. One of ten million rows would keep a million
 * that retention has deleted, and each further deletion reads past them.
 */
export async function up(db: Knex): Promise<void> {
  for (const table of TABLES)
    await db.raw(`alter table ?? set (autovacuum_vacuum_scale_factor = 0.05)`, [table]);
}

/** A log is deleted with its texts, and a delivery report is about a message: neither reads all texts. */
export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "sms_sent_of_chat",
    table: "sms_sent",
    columns: "(organization_id, chat_id) where chat_id is not null",
  },
  {
    kind: "index",
    name: "sms_received_of_chat",
    table: "sms_received",
    columns: "(organization_id, chat_id) where chat_id is not null",
  },
  {
    kind: "index",
    name: "sms_sent_of_message",
    table: "sms_sent",
    columns: "(organization_id, message_id) where message_id is not null",
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index if exists sms_sent_of_message, sms_received_of_chat, sms_sent_of_chat`);
  for (const table of TABLES) await db.raw(`alter table ?? reset (autovacuum_vacuum_scale_factor)`, [table]);
}
