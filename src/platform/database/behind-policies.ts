import type { Knex } from "knex";
import type { Client } from "./knex-client/client";

/**
 * Whether row-level security keeps the role from using indexes whose operators may reveal hidden rows: then functions of
 * the owner find the rows by them. On a Citus cluster, such a function cannot be a part of a statement.
 */
export function isBehindPolicies(db: Knex): boolean {
  const { rowSecurity, isDistributed } = (db.client as Client).settings; // as connect makes it
  return rowSecurity && !isDistributed;
}
