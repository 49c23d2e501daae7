import type { Knex } from "knex";
import { invalid } from "../errors";
import type { Build, Scope } from "./scope";

/** Which part of a list is asked for. */
export interface PageQuery {
  readonly order?: "asc" | "desc" | null;
  /** From 1; default 1. */
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

/** Deeper pages are refused: PostgreSQL would walk over every entry before them. */
const MAX_OFFSET = 10_000_000;

/** The query with its defaults; its ranges are rules of the schema. @throws BAD_USER_INPUT for a page too far in */
export function window({ order, page, take }: PageQuery) {
  const window = { order: order ?? "desc", page: page ?? 1, take: take ?? 20 } as const;
  const offset = (window.page - 1) * window.take;
  if (offset > MAX_OFFSET)
    throw invalid([{ path: "page", message: `must not lie more than ${MAX_OFFSET} entries in` }]);
  return { ...window, offset };
}

/** What a page is cut from: a name for its statements, the rows, the columns wanted, the values of its places. */
export interface Source {
  readonly key: string;
  readonly rows: (...parts: Parameters<Build>) => Knex.QueryBuilder;
  readonly columns: readonly string[];
  readonly values?: readonly unknown[];
}

/** One page of rows, which sort by their id, that is by creation: two named statements side by side. */
export async function page<T>(
  scope: Scope,
  { key, rows, columns, values = [] }: Source,
  query: PageQuery,
): Promise<Page<T>> {
  const { order, take, offset } = window(query);
  const sorted: Build = (...parts) =>
    rows(...parts)
      .select([...columns])
      .orderBy("id", order);
  const counted: Build = (...parts) => rows(...parts).count("*");
  const behind = values.length + 2; // the organization is the first value of every named statement
  const [data, [total]] = await Promise.all([
    scope.named<T>(
      `${key}.${order}`,
      sorted,
      [...values, take, offset],
      ` limit $${behind} offset $${behind + 1}`,
    ),
    scope.named<{ count: string }>(`${key}.count`, counted, values),
  ]);
  return { data, meta: metaOf(query, Number(total?.count)) };
}

/** One page of a list that is short enough to be held in memory, sorted as `order` says when it is ascending. */
export function pageOf<T>(ascending: readonly T[], query: PageQuery): Page<T> {
  const { order, take, offset } = window(query);
  const sorted = order === "asc" ? ascending : ascending.toReversed();
  return { data: sorted.slice(offset, offset + take), meta: metaOf(query, ascending.length) };
}

function metaOf(query: PageQuery, itemCount: number): Page<never>["meta"] {
  const { page, take } = window(query);
  const pageCount = Math.ceil(itemCount / take);
  return { page, take, itemCount, pageCount, hasPreviousPage: page > 1, hasNextPage: page < pageCount };
}
