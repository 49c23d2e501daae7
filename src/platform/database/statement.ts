import type { Knex } from "knex";
import type { AllColumns } from "./tables/all-columns";
import { ofAssistants } from "./tables/assistant-rows";
import { homeOf, type Home } from "./home";
import type { Client } from "./knex-client/client";
import type { RowsOf } from "./tables/rows";
import { SqlText } from "./values/sql-text";
import type { TenantTable } from "./tables/tables";

/** Building blocks of a statement's text. */
export interface Pieces {
  /** The organization's rows of a table. */
  readonly table: <T extends TenantTable>(name: T) => RowsOf<T>;
  /** The parameter of a value: `$(1)` is the first value that the statement runs with, `$2` in the text. */
  readonly $: (position: number) => Knex.Raw;
  /** Builds fragments of SQL. */
  readonly db: Knex;
  /** Lists the columns of a table, where raw SQL selects all. */
  readonly all: AllColumns;
  /** The organization in `insert … select` from other parts of the statement. */
  readonly home: Home;
  /** Adds the conditions of the given filters. */
  readonly narrowed: <Q extends Knex.QueryBuilder>(rows: Q) => Q;
}

/** A query builder whose query returns rows of the type R. */
export type QueryOf<R> = Knex.QueryBuilder & PromiseLike<R[]>;

/** A Knex query with the type of its rows. */
export interface Query<R> extends PromiseLike<R[]> {
  toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } };
}

/** Builds a statement that returns rows of type R. It must always build the same text. */
export type Build<R> = (pieces: Pieces) => Query<R>;

/** Adds an optional condition with the parameter of its value. */
export type Condition = (
  rows: Knex.QueryBuilder,
  value: Knex.Raw,
  pieces: Pick<Pieces, "table" | "db">,
) => unknown;

interface Options {
  /** Whether PostgreSQL prepares the statement once per connection; default true. */
  readonly isPrepared?: boolean;
  readonly conditions?: readonly Condition[];
}

/** The text of a statement. */
interface Text {
  readonly sql: SqlText;
  /** Whether assistant ids are its last parameter. */
  readonly takesAssistants: boolean;
}

/**
 * A statement whose text is built once, on first use. Create it at module level: a statement created per request
 * rebuilds its text each time.
 */
export class Statement<R> {
  /** Texts by the pool's known columns: one for whole organizations, one for some assistants. */
  private readonly texts = new WeakMap<AllColumns, [whole?: Text, limited?: Text]>();

  constructor(
    private readonly build: Build<R>,
    private readonly options: Options = {},
  ) {}

  /** @param isLimited whether the caller is limited to some assistants */
  text(db: Knex, all: AllColumns, isLimited: boolean): Text {
    let texts = this.texts.get(all);
    if (!texts) this.texts.set(all, (texts = []));
    return (texts[isLimited ? 1 : 0] ??= this.textOf(db, all, isLimited));
  }

  /** Parameters of conditions follow the statement's own; the assistant ids come last. */
  private textOf(db: Knex, all: AllColumns, isLimited: boolean): Text {
    const { conditions = [], isPrepared } = this.options;
    const own = conditions.length === 0 ? 0 : lastPlace(this.sqlOf(db, all));
    const narrowed = this.sqlOf(db, all, own);
    if (!isLimited) return { sql: new SqlText(narrowed, isPrepared), takesAssistants: false };
    const last = lastPlace(narrowed) + 1;
    const limited = this.sqlOf(db, all, own, db.raw(`$${last}::text[]`));
    return { sql: new SqlText(limited, isPrepared), takesAssistants: lastPlace(limited) === last };
  }

  /** @param own the last parameter before those of conditions; without it conditions are omitted */
  private sqlOf(db: Knex, all: AllColumns, own?: number, assistantIds?: Knex.Raw): string {
    const organization = db.raw("$1");
    const pieces: Pieces = {
      db,
      all,
      home: homeOf(db),
      $: (position) => db.raw(`$${position + 1}`),
      table: <T extends TenantTable>(name: T) => {
        const rows = db(name).queryContext({ all }).where(`${name}.organizationId`, organization);
        return (assistantIds ? ofAssistants(rows, name, assistantIds) : rows) as RowsOf<T>; // as in Scope
      },
      narrowed: (rows) => {
        if (own === undefined) return rows;
        this.options.conditions?.forEach((add, index) => add(rows, db.raw(`$${own + index + 1}`), pieces));
        return rows;
      },
    };
    const sql = sqlOf(this.build(pieces));
    return (db.client as Client).settings.rewrite?.(sql) ?? sql; // as connect makes it
  }
}

/** Creates a statement that PostgreSQL prepares once per connection. */
export const statement = <R>(build: Build<R>): Statement<R> => new Statement(build);

/**
 * Creates a statement that PostgreSQL plans for each run, because the best plan depends on its values or on the size of a
 * table that is empty most of the time: a plan kept from then reads the whole table for each row of a batch.
 */
export const unprepared = <R>(build: Build<R>): Statement<R> => new Statement(build, { isPrepared: false });

/** The text of a query without values. @throws Error for a value, whose place would be that of another one */
export function sqlOf(query: Pick<Query<unknown>, "toSQL">): string {
  const { sql, bindings } = query.toSQL().toNative();
  if (bindings.length > 0) throw new Error(`Pass values as parameters of the statement: ${sql}`);
  return sql;
}

/** The highest parameter number in a text; the organization is parameter 1. */
const lastPlace = (sql: string): number =>
  Math.max(1, ...[...sql.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place)));
