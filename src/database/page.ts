import type { Knex } from "knex";
import { invalid } from "../errors";
import { byAge } from "./order";
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
  /** Among them `id` and `createdAt`, which the page is sorted by. */
  readonly columns: readonly string[];
  /** Those of the columns whose values can be long. */
  readonly unbounded: readonly string[];
  readonly values?: readonly unknown[];
}

/**
 * Bytes of one statement of a page, as stored: unpacked they are at most a hundred times as many, which PostgreSQL
 * writes well within the statement timeout.
 */
const PART_BYTES = 262_144;

/** One page of rows, which sort by creation time, then id: two named statements side by side. */
export async function page<T>(scope: Scope, source: Source, query: PageQuery): Promise<Page<T>> {
  const { key, rows, values = [] } = source;
  const { order, take, offset } = window(query);
  const counted: Build = (...parts) => rows(...parts).count("*");
  const [found, [total]] = await Promise.all([
    scope.named<Found>(`${key}.${order}`, smallRows(source, order), [...values, take, offset]),
    scope.named<{ count: string }>(`${key}.count`, counted, values),
  ]);
  const large = found.filter(({ storedBytes }) => storedBytes !== null);
  const data = large.length > 0 ? await completed(scope, source, found, large) : found;
  return { data: data as T[], meta: metaOf(query, Number(total?.count)) };
}

/** A row, or of a large one the id and the size alone. */
interface Found {
  readonly id: string;
  readonly storedBytes: number | null;
}

/** Rows of a page without the values of those that are larger than their share. Sizes are told without unpacking anything. */
function smallRows({ rows, columns, unbounded, values = [] }: Source, order: "asc" | "desc"): Build {
  return (table, $, db, all) => {
    const quoted = (name: string) => db.ref(name).toQuery();
    const bytes = unbounded.map((name) => `coalesce(pg_column_size(${quoted(name)}), 0)`).join(" + ");
    const sorted = rows(table, $, db, all).select([...columns, db.raw(`${bytes} as stored_bytes`)]);
    const { sql } = sorted.orderBy(byAge(order)).toSQL().toNative();
    const take = `$${values.length + 2}`; // the organization is the first value of every named statement
    const isSmall = `stored_bytes <= ${PART_BYTES} / ${take}::int`;
    const shown = columns.map((name) =>
      unbounded.includes(name)
        ? `case when ${isSmall} then ${quoted(name)} end as ${quoted(name)}`
        : quoted(name),
    );
    return db.raw(
      `select ${shown.join(", ")}, case when not (${isSmall}) then stored_bytes end as stored_bytes
       from (${sql} limit ${take} offset $${values.length + 3}) as page order by created_at ${order}, id ${order}`,
    );
  };
}

/** The page with its large rows, read by one statement after another; those that were deleted meanwhile are left out. */
async function completed(
  scope: Scope,
  { key, rows, columns, values = [] }: Source,
  found: readonly Found[],
  large: readonly Found[],
): Promise<unknown[]> {
  const byIds: Build = (table, $, db, all) =>
    rows(table, $, db, all)
      .select([...columns])
      .where("id", db.raw("any(?::text[])", [$(values.length + 1)]));
  const read = new Map<string, unknown>();
  for (const ids of partsOf(large)) {
    const part = await scope.named<{ id: string }>(`${key}.part`, byIds, [...values, ids]);
    for (const row of part) read.set(row.id, row);
  }
  return found.flatMap((row) => (row.storedBytes === null ? row : (read.get(row.id) ?? [])));
}

/** Ids in parts of bounded size; one row is a part however large it is. */
function partsOf(found: readonly Found[]): string[][] {
  const parts: string[][] = [];
  let room = 0;
  for (const { id, storedBytes } of found) {
    room -= storedBytes!;
    if (room < 0 || parts.length === 0) {
      parts.push([]);
      room = PART_BYTES - storedBytes!;
    }
    parts.at(-1)!.push(id);
  }
  return parts;
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
