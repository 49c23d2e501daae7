import type { Knex } from "knex";
import { FilteredStatement, type Conditions } from "../../platform/database/filtered-statement";
import type { Scope } from "../../platform/database/scope";
import type { Pieces } from "../../platform/database/statement";
import type { AnalyticsInput, Period } from "./period";

type Name = "conversation_facts" | "function_facts";
export type Filter = Pick<AnalyticsInput, "assistantId" | "channel" | "projectId">;

const CONDITIONS: Conditions<keyof Filter> = {
  assistantId: (rows, value) => rows.where({ assistantId: value }),
  channel: (rows, value) => rows.where({ channel: value }),
  projectId: (rows, value, { table }) =>
    rows.whereIn("assistantId", table("assistants").select("id").where({ projectId: value })),
};

/** A statement over the facts of a period. */
export type FactsStatement<R> = FilteredStatement<R, keyof Filter>;

/**
 * Creates a statement over the facts of a period. It is not prepared, because a day and a year need different plans.
 * @param build gets the facts of the period; `$(1)` is its start, `$(2)` its end; further parameters follow
 */
export const factsOf = <R>(
  name: Name,
  build: (rows: Knex.QueryBuilder, pieces: Pieces) => Knex.QueryBuilder,
): FactsStatement<R> =>
  new FilteredStatement(
    CONDITIONS,
    (pieces) => {
      const { table, $, narrowed } = pieces;
      const rows: Knex.QueryBuilder = table(name);
      return build(narrowed(rows.where("startedAt", ">=", $(1)).where("startedAt", "<", $(2))), pieces);
    },
    false,
  );

/**
 * Reads facts of the conversations that started in a period. A job stores the facts of ended conversations; facts of
 * all others are computed from their messages, so the result is always exact.
 */
export class Facts {
  constructor(
    private readonly scope: Scope,
    readonly period: Period,
    private readonly filter: Filter,
  ) {}

  /** @param more parameters after the start and the end of the period */
  read<R>(facts: FactsStatement<R>, more: readonly unknown[] = []): Promise<R[]> {
    const { statement, values } = facts.by(this.filter);
    return this.scope.read(statement, [this.period.from, this.period.to, ...more, ...values]);
  }
}
