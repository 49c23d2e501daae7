import type { Knex } from "knex";
import { AuditedStatement } from "../../platform/database/audited-statement";
import { columnsExcept, type PublicRow } from "../../platform/database/rows";
import { StatementFamily } from "../../platform/database/statement-family";
import { snake } from "../../platform/database/names";
import { COLUMNS as CONFIGURATION_COLUMNS } from "../configurations/columns";
import { CONFIGURATIONS, type ConfigurationKind } from "../configurations/configurations";
import { firstVersionParts, HAS_VERSION, valuesOf, versionParts } from "../history/kept-content";

export type AssistantRow = PublicRow<"assistants", "deletedAt" | "sealedToolHeaders">;

export const COLUMNS = columnsExcept("assistants", "organizationId", "deletedAt", "sealedToolHeaders");

/** Columns that are part of an assistant's document. */
const OF_DOCUMENT: readonly string[] = ["name", "description", "variables"];
export const isOfDocument = (column: string): boolean => OF_DOCUMENT.includes(column);

/** Values of the document of a new assistant. */
const OWN_VALUES = [...valuesOf("changed", "", OF_DOCUMENT), ["fileIds", "'[]'::jsonb"] as const];
/** Default values of its configurations, by the part that inserts them. */
const DEFAULT_VALUES = (Object.keys(CONFIGURATIONS) as ConfigurationKind[]).map((kind) => {
  const columns = CONFIGURATION_COLUMNS[kind].map(snake);
  return [`${kind}_row`, valuesOf(`${kind}_row`, `${kind}.`, columns)] as const;
});

/** The first version that a statement makes: none, one of short values, or one of any values. */
type FirstVersion = "none" | "short" | "any";

/**
 * Foreign keys are checked at the end of the statement. Parameters: id, name, description, variables, project, key, and the
 * author of the first version if it makes one.
 */
const creation = (first: FirstVersion) =>
  new AuditedStatement<AssistantRow>((pieces) => {
    const { db, $ } = pieces;
    const returning = first === "none" ? "" : "returning *";
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
        ...(first !== "none" &&
          firstVersionParts(pieces, {
            ...{ id: $(1), author: $(7), hasLong: first === "any" },
            values: [OWN_VALUES, ...DEFAULT_VALUES],
          })),
      },
      rows: db.raw(
        `insert into assistants (organization_id, id, name, description, variables, project_id, key) values ($1, ?, ?, ?, ?, ?, ?) returning ??`,
        [$(1), $(2), $(3), $(4), $(5), $(6), COLUMNS],
      ),
    };
  });
export const CREATE = { none: creation("none"), short: creation("short"), any: creation("any") } as const;

/**
 * Statements that change some columns. Parameters: the id, the values of the columns, and the author of the version if
 * one of them is part of the document.
 */
const updates = (hasLong: boolean) =>
  new StatementFamily(
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
            parts: versionParts(pieces, {
              ...{ id, hasLong, author: $(columns.length + 2) },
              values: valuesOf("changed", "", kept),
            }),
          }),
        };
      }, isPrepared),
  );
export const UPDATES = { short: updates(false), any: updates(true) } as const;
