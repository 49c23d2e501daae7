import { hash } from "node:crypto";
import type { Knex } from "knex";

/** Characters of a text that its index contains: PostgreSQL limits index entries to 2,704 bytes. */
const INDEXED_LENGTH = 255;

/** Adds a condition on a column of possibly long texts, which is indexed by their first characters. */
export const whereText = (rows: Knex.QueryBuilder, column: string, value: string): Knex.QueryBuilder =>
  rows.whereRaw(`left(??, ${INDEXED_LENGTH}) = left(?, ${INDEXED_LENGTH}) and ?? = ?`, [
    column,
    value,
    column,
    value,
  ]);

/** The indexed form of an identifier, as in unique keys: itself, or a digest if it is long. */
export const indexable = (identifier: string): string =>
  identifier.length <= INDEXED_LENGTH ? identifier : `sha256:${hash("sha256", identifier, "hex")}`;
