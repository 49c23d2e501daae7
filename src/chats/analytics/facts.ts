import type { Knex } from "knex";
import type { Build, Scope } from "../../platform/database/scope";
import type { AnalyticsInput, Period } from "./period";

type Name = "conversation_facts" | "function_facts";
type Parts = Parameters<Build>;
export type Filter = Pick<AnalyticsInput, "assistantId" | "channel" | "projectId">;

/**
 * Reads the facts of the conversations that began in a period. Those of ended ones are kept by a job; of the others they
 * are computed from what was said, so that together they are always exact.
 */
export class Facts {
  /** In the places behind the organization: `$(1)` is where the period begins, `$(2)` where it ends. */
  private readonly values: unknown[];

  constructor(
    private readonly scope: Scope,
    readonly period: Period,
    private readonly filter: Filter,
  ) {
    const { assistantId, channel, projectId } = filter;
    const given = [assistantId, channel, projectId].filter((value) => value != null);
    this.values = [period.from, period.to, ...given];
  }

  /** @param more values of places behind those of the filter; `build` is told the last place */
  read<R>(
    name: Name,
    build: (rows: Knex.QueryBuilder, parts: Parts, last: Knex.Raw) => Knex.QueryBuilder,
    more: readonly unknown[] = [],
  ): Promise<R[]> {
    const values = [...this.values, ...more];
    return this.scope.named<R>(
      undefined, // planned anew each time: a day and a year want different plans
      (...parts) => build(this.rows(name, ...parts), parts, parts[1](values.length)),
      values,
    );
  }

  private rows(name: Name, ...[table, $]: Parts): Knex.QueryBuilder {
    const { assistantId, channel, projectId } = this.filter;
    const rows = table(name).where("startedAt", ">=", $(1)).where("startedAt", "<", $(2));
    let place = 2;
    if (assistantId != null) rows.where({ assistantId: $(++place) });
    if (channel != null) rows.where({ channel: $(++place) });
    if (projectId != null)
      rows.whereIn(
        "assistantId",
        table("assistants")
          .select("id")
          .where({ projectId: $(++place) }),
      );
    return rows;
  }
}
