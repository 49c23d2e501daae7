import type { Knex } from "knex";
import { FilteredStatement, type Conditions } from "../../platform/database/lists/filtered-statement";
import { replicated } from "../../platform/database/lists/replicated";
import type { Scope } from "../../platform/database/scope";
import type { Pieces } from "../../platform/database/statement";
import { CONVERSATION_FACTS, FUNCTION_FACTS } from "./measures";
import type { AnalyticsInput, Period } from "./period";
import { boundsOf, slotsAndEdges, spansOf, type Span, type Unit } from "./spans";

type Filter = Pick<AnalyticsInput, "assistantId" | "channel" | "projectId">;

const CONDITIONS: Conditions<keyof Filter> = {
  assistantId: (rows, value) => rows.where({ assistantId: value }),
  channel: (rows, value) => rows.where({ channel: value }),
  projectId: (rows, value, { table }) =>
    rows.whereIn("assistantId", table("assistants").select("id").where({ projectId: value })),
};

/** A statement about the conversations of a period; parameter 1 is its start, 2 its end. */
export type FactsStatement<R> = FilteredStatement<R, keyof Filter>;

/**
 * Creates a statement about the conversations of a period. It is not prepared, because a day and a year need different
 * plans.
 */
export const factsOf = <R>(build: (pieces: Pieces) => Knex.Raw | Knex.QueryBuilder): FactsStatement<R> =>
  new FilteredStatement(CONDITIONS, build, false);

/** SQL of a column, for a row of sums and for the facts of a conversation. */
type Column = readonly [ofSums: string, ofFact: string];

interface Shape {
  readonly sums: "conversation_sums" | "end_reason_sums" | "function_sums";
  readonly facts: "conversation" | "function";
  /** The units of the sums, largest first. */
  readonly units: readonly Unit[];
  /** Columns that the result is grouped by. Parameters from 8 on are free. */
  readonly groups?: Readonly<Record<string, Column>>;
  /** Columns that are added up. */
  readonly measures: Readonly<Record<string, Column>>;
  /** Condition on facts. */
  readonly only?: string;
  /** Columns of the result, as SQL. */
  readonly result: string;
  /** Clauses after the grouping. */
  readonly order?: string;
}

/** Figures of a period as sums, by which rows of sums they are read from. */
export interface Figures<R> {
  readonly units: readonly Unit[];
  readonly ofOrganization: FactsStatement<R>;
  readonly ofAssistants: FactsStatement<R>;
}

/** Creates the statements of figures. Those grouped by assistant always read the sums of assistants. */
export const figuresOf = <R>(shape: Shape): Figures<R> => {
  const ofAssistants = addedUp<R>(shape, "assistant_id <> ''");
  const isByAssistant = shape.groups?.assistant_id !== undefined;
  return {
    units: shape.units,
    ofAssistants,
    ofOrganization: isByAssistant ? ofAssistants : addedUp<R>(shape, "assistant_id = ''"),
  };
};

/*
 * `offset 0` makes PostgreSQL plan the rows of one span: together with the spans, it expects a ninth of the table and
 * reads all of it.
 */

/**
 * Adds up the sums of whole slots, the facts of the slots that the period cuts, and the changes that are in no sum yet:
 * live conversations, recently ended ones, and those that are counted again. One statement sees one moment.
 */
const addedUp = <R>(shape: Shape, who: string): FactsStatement<R> => {
  const { sums, facts, groups = {}, measures, only = "true", result, order = "" } = shape;
  const columns = facts === "function" ? FUNCTION_FACTS : CONVERSATION_FACTS;
  const hasUnits = sums === "conversation_sums";
  const ofSums = [...Object.entries(groups), ...Object.entries(measures)].map(
    ([name, [sql]]) => `${sql} as ${name}`,
  );
  const ofFacts = [
    ...Object.values(groups).map(([, sql]) => sql),
    ...Object.values(measures).map(([, sql]) => `sign * ${sql}`),
  ];
  const names = Object.keys(groups);
  return factsOf<R>(({ table, $, db, narrowed }) => {
    const slots = narrowed(
      table(sums).whereRaw(`${who} and starts_at >= span.since and starts_at < span.until`),
    );
    if (hasUnits) slots.whereRaw("unit = span.unit");
    const edges = narrowed(
      table(`${facts}_facts_summed`).whereRaw("started_at >= span.since and started_at < span.until"),
    );
    const changes = narrowed(
      table(`${facts}_facts_unsummed`).where("startedAt", ">=", $(1)).where("startedAt", "<", $(2)),
    );
    return db.raw(
      `with facts as (
        select edge.* from unnest($7::timestamptz[], $8::timestamptz[]) span (since, until) cross join lateral (? offset 0) edge
        union all select changed.* from (?) changed
      ), parts as (
        select ${ofSums.join(", ")} from unnest($4::text[], $5::timestamptz[], $6::timestamptz[]) span (unit, since, until)
          cross join lateral (? offset 0) slots
        union all select ${ofFacts.join(", ")} from facts where ${only}
      ) select ${result} from parts ${names.length > 0 ? `group by ${names.join(", ")}` : ""} ${order}`,
      [
        edges.select(db.raw(`1 as sign, ${columns}`)),
        changes.select(db.raw(`sign, ${columns}`)),
        slots.select(db.raw("*")),
      ],
    );
  });
};

/** Reads about the conversations that started in a period. The figures are exact at any moment. */
export class Facts {
  constructor(
    private readonly scope: Scope,
    readonly period: Period,
    private readonly filter: Filter,
  ) {}

  /** @param more parameters after the start and the end of the period */
  read<R>(facts: FactsStatement<R>, more: readonly unknown[] = []): Promise<R[]> {
    const { statement, values } = facts.by(this.filter);
    const all = [this.period.from, this.period.to, ...more, ...values];
    return replicated(this.scope, (from) => from.readLong(statement, all));
  }

  /** @param more parameters after those of the spans */
  figures<R>(
    figures: Figures<R>,
    more: readonly unknown[] = [],
    spans = this.spans(figures.units),
  ): Promise<R[]> {
    const { assistantId, projectId } = this.filter;
    const isWhole = assistantId == null && projectId == null && !this.scope.assistantIds;
    const [slots, edges] = slotsAndEdges(spans);
    const units = slots.map(({ unit }) => unit);
    return this.read(isWhole ? figures.ofOrganization : figures.ofAssistants, [
      units,
      ...boundsOf(slots),
      ...boundsOf(edges),
      ...more,
    ]);
  }

  private spans(units: readonly Unit[]): Span[] {
    return spansOf(this.period.from.getTime(), this.period.to.getTime(), units);
  }
}
