import type { Knex } from "knex";
import { AuditedStatement } from "../../platform/database/audited-statement";
import { columnsExcept, type PublicRow } from "../../platform/database/rows";
import { StatementFamily } from "../../platform/database/statement-family";
import { CONFIGURATIONS } from "../configurations/configurations";
import { firstVersionParts, HAS_VERSION, valuesOf, versionParts } from "../history/kept-content";

export type AssistantRow = PublicRow<"assistants", "deletedAt" | "sealedToolHeaders">;

export const COLUMNS = columnsExcept("assistants", "organizationId", "deletedAt", "sealedToolHeaders");

/**
 * Foreign keys are checked at the end of the statement. Parameters: id, name, description, variables, project, key, what to
 * do about missing variables, and the author of the first version if it `keeps` one.
 */
const creation = (keeps: boolean) =>
  new AuditedStatement<AssistantRow>((pieces) => {
    const { db, $ } = pieces;
    const returning = keeps ? "returning *" : "";
    return {
      parts: {
        ...Object.fromEntries(
          Object.entries(CONFIGURATIONS).map(([kind, table]) => [
            `${kind}_row`,
            db.raw(`insert into ${table} (organization_id, assistant_id) values ($1, ?) ${returning}`, [
              $(1),
            ]),
          ]),
        ),
        ...(keeps && firstVersionParts(pieces, $(1), $(8))),
      },
      rows: db.raw(
        `insert into assistants (organization_id, id, name, description, variables, project_id, key, missing_variables)
        values ($1, ?, ?, ?, ?, ?, ?, ?) returning ??`,
        [$(1), $(2), $(3), $(4), $(5), $(6), $(7), COLUMNS],
      ),
    };
  });
export const CREATE = creation(false);
export const CREATE_WITH_VERSION = creation(true);

/** Columns that are part of an assistant's document. */
const OF_DOCUMENT: readonly string[] = ["name", "description", "variables"];
export const isOfDocument = (column: string): boolean => OF_DOCUMENT.includes(column);

/**
 * Statements that change some columns. Parameters: the id, the values of the columns, and the author of the version if
 * one of them is part of the document.
 */
export const UPDATES = new StatementFamily(
  (columns, isPrepared) =>
    new AuditedStatement<AssistantRow & { hasVersion: boolean }>((pieces) => {
      const { table, $, db } = pieces;
      const id = $(1);
      const changes = Object.fromEntries(columns.map((column, index) => [column, $(index + 2)]));
      const kept = columns.filter(isOfDocument);
      const assistants: Knex.QueryBuilder = table("assistants").where({ id }).whereNull("deletedAt");
      return {
        rows: assistants.update(changes).returning([...COLUMNS, db.raw(`${HAS_VERSION(id)}`)]),
        ...(kept.length > 0 && {
          parts: versionParts(pieces, { id, values: valuesOf("", kept), author: $(columns.length + 2) }),
        }),
      };
    }, isPrepared),
);
