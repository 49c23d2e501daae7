import type { EventEmitter } from "node:events";
import type { Knex } from "knex";
import type pg from "pg";
import type { Client } from "../knex-client/client";

const READ_ONLY = "25006";

/** Ignores the failure of a write that accompanies a read on a read-only database. @throws all other errors */
export function unlessReadOnly(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== READ_ONLY) throw error;
  return undefined;
}

/**
 * Calls back when a connection refuses a write because it is read-only. Its pool must not use it again: a connection
 * keeps the `default_transaction_read_only` that it began with, also after the database accepts writes again.
 */
export function whenReadOnly(connection: pg.Client, discard: () => void): void {
  const { connection: messages } = connection as unknown as { connection: EventEmitter }; // missing in pg's types
  messages.on("errorMessage", ({ code }: { code?: unknown }) => void (code === READ_ONLY && discard()));
}

/** Makes the pool of Knex close a connection instead of using it again. */
export const discardReadOnly = (connection: object): void =>
  void Object.assign(connection, { __knex__disposed: "read-only" });

/** Whether the database answers and accepts writes, which standbys and databases on a full disk do not. */
export const health = (knex: Knex): Promise<"ok" | "read-only"> =>
  (knex.client as Client).onConnection(async (connection) => {
    const { rows } = await connection.query<{ setting: string }>(
      "select current_setting('transaction_read_only') as setting",
    );
    if (rows[0]?.setting === "off") return "ok";
    discardReadOnly(connection); // the next look is at a new one
    return "read-only";
  });
