import type { Knex } from "knex";
import type { PoolUse } from "../ports/work-reports";
import type { Client } from "./knex-client/client";

/** Longest time for a reading, in ms. It must not keep a busy database busier. */
const TIMEOUT_MS = 1_500;

/** A value by its name, and by a label for those that have several. */
export interface Reading {
  readonly name: string;
  readonly label: string | null;
  readonly value: number;
}
export type Readings = readonly Reading[];

/** The current use of a pool that `connect` has opened. */
export const useOf = (knex: Knex): PoolUse => (knex.client as Client).use;

/** Reads every value with one statement. @throws Error if it takes too long */
export const readings = (db: Knex): Promise<Reading[]> => ask<Reading>(db, "parley_readings()");

export const busiestOrganizations = (db: Knex, most: number) =>
  ask<{ readonly organizationId: string; readonly perSecond: number }>(
    db,
    "parley_busiest_organizations(?)",
    [most],
  );

async function ask<R>(db: Knex, call: string, values: readonly Knex.RawBinding[] = []): Promise<R[]> {
  const rows: unknown = await db
    .select("*")
    .from(db.raw(call, values))
    .queryContext({ timeoutMs: TIMEOUT_MS });
  return rows as R[]; // the columns that the function of migration 050 returns
}
