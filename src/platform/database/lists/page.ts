import type { Knex } from "knex";
import { invalid } from "../../errors";
import { FilteredStatement, type Conditions, type Filter } from "./filtered-statement";
import { withLong, type LongColumns } from "./long-values";
import { byAge, inBothOrders, opposite, type Order } from "./order";
import { replicated } from "./replicated";
import type { Rows } from "../tables/rows";
import type { Scope } from "../scope";
import { sqlOf, statement, type Build, type Pieces, type Statement } from "../statement";
import type { TenantTable } from "../tables/tables";

/** The requested page of a list. */
export interface PageQuery {
  readonly order?: "asc" | "desc" | null;
  /** Page number, from 1; default 1. */
  readonly page?: number | null;
  /** Entries on a page: 1 to 100; default 20. */
  readonly take?: number | null;
}

export interface Page<T> {
  readonly data: T[];
  readonly meta: {
    readonly page: number;
    readonly take: number;
    readonly itemCount: number;
    readonly pageCount: number;
    readonly hasPreviousPage: boolean;
    readonly hasNextPage: boolean;
  };
}

/** Largest offset: PostgreSQL walks over all entries before it. */
const MAX_OFFSET = 10_000_000;

/** The query with its defaults; ranges are checked by the schema. @throws BAD_USER_INPUT beyond the largest offset */
export function window({ order, page, take }: PageQuery) {
  const [number, size] = [page ?? 1, take ?? 20];
  const offset = (number - 1) * size;
  if (offset > MAX_OFFSET)
    throw invalid([
      { path: "page", message: `must not start more than ${MAX_OFFSET} entries into the list` },
    ]);
  return { order: order ?? "desc", page: number, take: size, offset } as const;
}

/** Pages that begin at this entry or later are read from the nearer end of the list. */
export const FAR_OFFSET = 1_000;

export type ColumnOf<T extends TenantTable> = keyof Rows[T] & string;

/** A list that clients read by page. */
export interface ListSource<T extends TenantTable, C extends ColumnOf<T>, F extends string> {
  readonly table: T;
  /** Leaves out rows that the list never shows. */
  readonly where?: (rows: Knex.QueryBuilder) => Knex.QueryBuilder;
  /** Must include `id` and `createdAt`, by which the page is sorted. */
  readonly columns: readonly C[];
  /**
   * Columns with possibly long values, each with a replacement in case its row is deleted before the value is read.
   */
  readonly unbounded: NoInfer<Readonly<Partial<Pick<Rows[T], C>>>>;
  readonly conditions?: Conditions<F>;
}

/**
 * Stored bytes of a column per page. Decompressed they are at most a hundred times as many, which PostgreSQL sends
 * well within the statement timeout. A value longer than its share is read by a separate statement.
 */
const PAGE_BYTES = 262_144;

/** The statements of a list with rows of type R. */
export class List<T extends TenantTable, C extends ColumnOf<T>, F extends string = never> {
  /** Replacements for long values of rows that were deleted. */
  readonly unbounded: Readonly<Record<string, unknown>>;
  readonly found: Record<Order, FilteredStatement<Pick<Rows[T], C> & LongColumns, F>>;
  readonly count: FilteredStatement<{ count: string }, F>;
  /** Statements that read a long value of one row, by column. */
  readonly whole: Readonly<Record<string, Statement<Record<string, unknown>>>>;

  constructor(readonly source: ListSource<T, C, F>) {
    const { unbounded, conditions } = source;
    this.unbounded = unbounded;
    this.found = inBothOrders((order) => new FilteredStatement(conditions, shortValues(source, order)));
    this.count = new FilteredStatement(conditions, (pieces) =>
      pieces.narrowed(rowsOf(source, pieces)).count("*"),
    );
    this.whole = Object.fromEntries(
      Object.keys(unbounded).map((name) => [
        name,
        statement((pieces) =>
          rowsOf(source, pieces)
            .select(name)
            .where({ id: pieces.$(1) }),
        ),
      ]),
    );
  }
}

/**
 * Reads a page of rows, sorted by creation time, then id, with two parallel statements. If the response is streamed,
 * a placeholder replaces a long value until it is sent.
 */
export async function page<T extends TenantTable, C extends ColumnOf<T>, F extends string>(
  scope: Scope,
  list: List<T, C, F>,
  query: PageQuery,
  filter: Filter<F> = {},
): Promise<Page<Pick<Rows[T], C>>> {
  const [found, total] = await replicated(scope, (from) => foundAndTotal(from, list, query, filter));
  return { data: await withLong(scope, list, found), meta: metaOf(query, total) };
}

/** The rows of a page, and the number of entries of its list. */
async function foundAndTotal<T extends TenantTable, C extends ColumnOf<T>, F extends string>(
  scope: Scope,
  list: List<T, C, F>,
  query: PageQuery,
  filter: Filter<F>,
) {
  const { order, take, offset } = window(query);
  const read = (order: Order, take: number, offset: number) => {
    const { statement, values } = list.found[order].by(filter);
    return scope.read(statement, [take, offset, ...values]);
  };
  const counted = list.count.by(filter);
  const count = scope.read(counted.statement, counted.values).then(([total]) => Number(total?.count));
  const rows =
    offset < FAR_OFFSET
      ? read(order, take, offset)
      : count.then((total) => fromNearerEnd(read, { order, take, offset, total }));
  return Promise.all([rows, count]);
}

/** Reads a far page from the end of the list that is nearer, which the number of entries shows. */
async function fromNearerEnd<R>(
  read: (order: Order, take: number, offset: number) => Promise<R[]>,
  { order, take, offset, total }: Readonly<Record<"take" | "offset" | "total", number>> & { order: Order },
): Promise<R[]> {
  const rest = total - offset;
  if (rest <= 0) return [];
  if (rest > offset) return read(order, take, offset);
  const size = Math.min(take, rest);
  return (await read(opposite(order), size, rest - size)).toReversed();
}

/** All rows that a list can show. */
export function rowsOf(
  { table, where }: Pick<ListSource<TenantTable, never, never>, "table" | "where">,
  pieces: Pieces,
): Knex.QueryBuilder {
  const rows: Knex.QueryBuilder = pieces.table(table);
  return where ? where(rows) : rows;
}

/** Rows of a page without values that exceed their share. Sizes are determined without decompression. */
function shortValues<T extends TenantTable, C extends ColumnOf<T>, F extends string>(
  source: ListSource<T, C, F>,
  order: Order,
): Build<Pick<Rows[T], C> & LongColumns> {
  return (pieces) => {
    const { db, narrowed } = pieces;
    const sorted = narrowed(rowsOf(source, pieces))
      .select([...source.columns])
      .orderBy(byAge(order));
    const query: Knex.Raw = db.raw(
      `select ${columnsOf(source, db, "$2::int")}
       from (${sqlOf(sorted)} limit $2 offset $3) as page
       order by created_at ${order}, id ${order}`,
    );
    return query;
  };
}

/** The columns of a list, with null for each value that exceeds its share. @param entries number of shares, in SQL */
export function columnsOf(
  {
    columns,
    unbounded,
  }: Pick<ListSource<TenantTable, never, never>, "unbounded"> & {
    readonly columns: readonly string[];
  },
  db: Knex,
  entries: string,
): string {
  const quoted = (name: string) => db.ref(name).toQuery();
  const isLong = (name: string) => `pg_column_size(${quoted(name)}) > ${PAGE_BYTES} / ${entries}`;
  const shown = columns.map((name) =>
    name in unbounded
      ? `case when ${isLong(name)} then null else ${quoted(name)} end as ${quoted(name)}`
      : quoted(name),
  );
  const long = Object.keys(unbounded).map((name) => `case when ${isLong(name)} then '${name}' end`);
  return `${shown.join(", ")}, array_remove(array[${long.join(", ")}], null) as long`;
}

/** A page of a list that fits in memory. @param ascending the list in ascending order */
export function pageOf<T>(ascending: readonly T[], query: PageQuery): Page<T> {
  const { order, take, offset } = window(query);
  const sorted = order === "asc" ? ascending : ascending.toReversed();
  return { data: sorted.slice(offset, offset + take), meta: metaOf(query, ascending.length) };
}

export function metaOf(query: PageQuery, itemCount: number): Page<never>["meta"] {
  const { page, take } = window(query);
  const pageCount = Math.ceil(itemCount / take);
  return { page, take, itemCount, pageCount, hasPreviousPage: page > 1, hasNextPage: page < pageCount };
}
