import { hash } from "node:crypto";
import type { Knex } from "knex";

/** Characters of a text that its index contains: PostgreSQL limits index entries to 2,704 bytes. */
const INDEXED_LENGTH = 255;

/**
 * Adds a condition on a column of possibly long texts. One index contains their first characters, and another one only
 * texts that it contains as a whole: it is the only one that PostgreSQL uses under row-level security, and its rows have
 * the condition on the length.
 */
export function whereText(rows: Knex.QueryBuilder, column: string, value: string): Knex.QueryBuilder {
  const isShort = [...value].length <= INDEXED_LENGTH; // as PostgreSQL counts, which knows no surrogates
  return rows.whereRaw(
    `left(??, ${INDEXED_LENGTH}) = left(?, ${INDEXED_LENGTH}) and ?? = ? and length(??) ${isShort ? "<=" : ">"} ${INDEXED_LENGTH}`,
    [column, value, column, value, column],
  );
}

/** The indexed form of an identifier, as in unique keys: itself, or a digest if it is long. */
export const indexable = (identifier: string): string =>
  identifier.length <= INDEXED_LENGTH ? identifier : `sha256:${hash("sha256", identifier, "hex")}`;
