import type { Knex } from "knex";
import type { Client } from "./knex-client/client";

/** Table with a row for each organization, on the worker that has the organization's rows. */
export const HOMES = "distributed_organizations";

/**
 * Pieces of an `insert … select` whose rows come from other parts of the same statement. The insert must be a part, too,
 * and not the end of the statement, which Citus would send to the worker with its `with` clause.
 */
export interface Home {
  /** The id of the organization, to select. */
  readonly id: string;
  /** The end of the `from` clause. */
  readonly join: string;
  /** A statement that adds what `join` finds, for a new organization. */
  readonly addition: string;
}

const ANYWHERE: Home = { id: "$1", join: "", addition: "select $1::text" };

/**
 * Citus runs the insert on the worker of the organization if the id comes from a table there. Otherwise it copies the
 * parts to all workers first, which fails while one of them is down.
 */
const ON_WORKER: Home = {
  id: "home.organization_id",
  join: `cross join (select organization_id from ${HOMES} where organization_id = $1) home`,
  addition: `insert into ${HOMES} (organization_id) values ($1)`,
};

/** The pieces for a pool. */
export const homeOf = (db: Knex): Home =>
  (db.client as Client).settings.isDistributed ? ON_WORKER : ANYWHERE; // as connect makes it
