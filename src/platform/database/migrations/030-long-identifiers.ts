import type { Knex } from "knex";

const COLUMNS = ["external_id", "user_id", "anonymous_id"];
const replace = async (db: Knex, entry: (column: string) => string) => {
  for (const column of COLUMNS) {
    await db.raw(`drop index chats_${column}`);
    await db.raw(
      `create index chats_${column} on chats (organization_id, ${entry(column)}, id) where ${column} is not null`,
    );
  }
};

/** Identifiers of calls are up to 4,096 characters long, more than an index takes: it holds their beginnings. */
export const up = (db: Knex): Promise<void> => replace(db, (column) => `left(${column}, 255)`);

export const down = (db: Knex): Promise<void> => replace(db, (column) => column);
