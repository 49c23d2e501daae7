import { createHash } from "node:crypto";
import type { Knex } from "knex";

/** Characters of a text that its index holds: PostgreSQL takes no entry over 2,704 bytes. */
export const INDEXED = 255;

/** Adds a condition on a column of texts that may be long and are indexed by their beginning. */
export const whereText = (rows: Knex.QueryBuilder, column: string, value: string): Knex.QueryBuilder =>
  rows.whereRaw(`left(??, ${INDEXED}) = left(?, ${INDEXED}) and ?? = ?`, [column, value, column, value]);

/** What stands for an identifier where its whole text is indexed, as in unique keys: itself, or the digest of a long one. */
export const indexable = (identifier: string): string =>
  identifier.length <= INDEXED
    ? identifier
    : `sha256:${createHash("sha256").update(identifier).digest("hex")}`;
