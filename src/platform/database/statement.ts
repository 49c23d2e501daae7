import type { Knex } from "knex";
import type { AllColumns } from "./all-columns";
import { ofAssistants } from "./assistant-rows";
import type { RowsOf } from "./rows";
import { SqlText } from "./sql-text";
import type { TenantTable } from "./tables";

/** Pieces from which the text of a statement is built. */
export interface Pieces {
  /** The organization's rows of a table. */
  readonly table: <T extends TenantTable>(name: T) => RowsOf<T>;
  /** The place of a value: `$(1)` is the first of the values that the statement runs with. In text, it is `$2`. */
  readonly $: (position: number) => Knex.Raw;
  /** Builds pieces of SQL. */
  readonly db: Knex;
  /** Lists the columns of a table, where text of our own selects all. */
  readonly all: AllColumns;
  /** Adds the conditions whose values are given. */
  readonly narrowed: <Q extends Knex.QueryBuilder>(rows: Q) => Q;
}

/** A query builder whose query returns rows of the type R. */
export type QueryOf<R> = Knex.QueryBuilder & PromiseLike<R[]>;

/** A built query of Knex, with the rows that it returns. */
interface Query<R> extends PromiseLike<R[]> {
  toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } };
}

/** Builds a statement that returns rows of the type R. It always builds the same text. */
export type Build<R> = (pieces: Pieces) => Query<R>;

/** Adds an optional part of a `where`, with the place of its value. */
export type Condition = (
  rows: Knex.QueryBuilder,
  value: Knex.Raw,
  pieces: Pick<Pieces, "table" | "db">,
) => unknown;

interface Options {
  /** Whether PostgreSQL prepares it once on each connection (the default). */
  readonly isPrepared?: boolean;
  readonly conditions?: readonly Condition[];
}

/** The text that a scope runs. */
interface Text {
  readonly sql: SqlText;
  /** Whether the ids of assistants fill its last place. */
  readonly takesAssistants: boolean;
}

/**
 * A statement whose text is built on first use and kept. Make it when a module is loaded: one that is made for a request
 * builds its text again each time.
 */
export class Statement<R> {
  /** By what a pool knows of the columns: the text for whole organizations, and the one for some assistants. */
  private readonly texts = new WeakMap<AllColumns, [whole?: Text, limited?: Text]>();

  constructor(
    private readonly build: Build<R>,
    private readonly options: Options = {},
  ) {}

  /** @param isLimited whether only rows of some assistants are found */
  text(db: Knex, all: AllColumns, isLimited: boolean): Text {
    let texts = this.texts.get(all);
    if (!texts) this.texts.set(all, (texts = []));
    return (texts[isLimited ? 1 : 0] ??= this.textOf(db, all, isLimited));
  }

  /** Places of conditions follow the statement's own; the ids of assistants come last. */
  private textOf(db: Knex, all: AllColumns, isLimited: boolean): Text {
    const { conditions = [], isPrepared } = this.options;
    const own = conditions.length === 0 ? 0 : lastPlace(this.sqlOf(db, all));
    const narrowed = this.sqlOf(db, all, own);
    if (!isLimited) return { sql: new SqlText(narrowed, isPrepared), takesAssistants: false };
    const last = lastPlace(narrowed) + 1;
    const limited = this.sqlOf(db, all, own, db.raw(`$${last}::text[]`));
    return { sql: new SqlText(limited, isPrepared), takesAssistants: lastPlace(limited) === last };
  }

  /** @param own the last place before those of the conditions, which are left out without it */
  private sqlOf(db: Knex, all: AllColumns, own?: number, assistantIds?: Knex.Raw): string {
    const organization = db.raw("$1");
    const pieces: Pieces = {
      db,
      all,
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
    return sqlOf(this.build(pieces));
  }
}

/** A statement that PostgreSQL prepares once on each connection. */
export const statement = <R>(build: Build<R>): Statement<R> => new Statement(build);

/** A statement that PostgreSQL plans for the values of each run, as the best plan depends on them. */
export const unprepared = <R>(build: Build<R>): Statement<R> => new Statement(build, { isPrepared: false });

/** The text of a query without values. @throws Error for a value, whose place would be that of another one */
export function sqlOf(query: Pick<Query<unknown>, "toSQL">): string {
  const { sql, bindings } = query.toSQL().toNative();
  if (bindings.length > 0) throw new Error(`Values belong in places of the statement: ${sql}`);
  return sql;
}

/** The highest place in a text; the organization has the first. */
const lastPlace = (sql: string): number =>
  Math.max(1, ...[...sql.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place)));
