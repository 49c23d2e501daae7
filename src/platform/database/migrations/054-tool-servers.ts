import type { Knex } from "knex";

/**
 * The MCP servers of an assistant, as a list, and the headers for all of them, encrypted together as JSON by the servers'
 * names. Two statements, because a Citus cluster takes one change of a table at a time.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table assistants add column tool_servers jsonb`);
  await db.raw(`alter table assistants add column sealed_tool_headers text`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table assistants drop column sealed_tool_headers`);
  await db.raw(`alter table assistants drop column tool_servers`);
}
