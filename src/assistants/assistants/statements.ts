import type { Knex } from "knex";
import { AuditedStatement } from "../../platform/database/audited-statement";
import { columnsExcept, type PublicRow } from "../../platform/database/tables/rows";
import { StatementFamily } from "../../platform/database/statement-family";
import { CONFIGURATIONS } from "../configurations/configurations";
import { HAS_VERSION, valuesOf, versionParts } from "../history/kept-content";

export type AssistantRow = PublicRow<"assistants", "deletedAt" | "sealedToolHeaders" | "createdBy">;

export const COLUMNS = columnsExcept(
  "assistants",
  "organizationId",
  "deletedAt",
  "sealedToolHeaders",
  "createdBy",
);

/**
 * Foreign keys are checked at the end of the statement. Parameters: id, name, description, variables, project, key, what to
 * do about missing variables, and the creator.
 */
export const CREATE = new AuditedStatement<AssistantRow>(({ db, $ }) => ({
  parts: Object.fromEntries(
    Object.entries(CONFIGURATIONS).map(([kind, table]) => [
      `${kind}_row`,
      db.raw(`insert into ${table} (organization_id, assistant_id) values ($1, ?)`, [$(1)]),
    ]),
  ),
  rows: db.raw(
    `insert into assistants (organization_id, id, name, description, variables, project_id, key, missing_variables,
      created_by) values ($1, ?, ?, ?, ?, ?, ?, ?, ?) returning ??`,
    [$(1), $(2), $(3), $(4), $(5), $(6), $(7), $(8), COLUMNS],
  ),
}));

/** Columns that are part of an assistant's document. */
const OF_DOCUMENT: readonly string[] = ["name", "description", "variables"];
export const isOfDocument = (column: string): boolean => OF_DOCUMENT.includes(column);

/**
 * Statements that change some columns. Parameters: the id, the values of the columns, and, if one of them is part of the
 * document, the author of the version and whether to change an assistant without versions.
 */
export const UPDATES = new StatementFamily(
  (columns, isPrepared, hasLong) =>
    new AuditedStatement<AssistantRow>((pieces) => {
      const { table, $ } = pieces;
      const id = $(1);
      const changes = Object.fromEntries(columns.map((column, index) => [column, $(index + 2)]));
      const kept = columns.filter(isOfDocument);
      const assistants: Knex.QueryBuilder = table("assistants").where({ id }).whereNull("deletedAt");
      if (kept.length === 0) return { rows: assistants.update(changes).returning(COLUMNS) };
      const own = assistants.whereRaw(`${HAS_VERSION(id, $(columns.length + 3))}`);
      return {
        rows: own.update(changes).returning(COLUMNS),
        parts: versionParts(pieces, {
          ...{ id, hasLong, author: $(columns.length + 2) },
          values: valuesOf("", kept),
        }),
      };
    }, isPrepared),
);
