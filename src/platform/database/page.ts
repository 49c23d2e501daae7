import type { Knex } from "knex";
import { invalid } from "../errors";
import { isLate, lateJson, readLate } from "../json/json-source";
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
  /** All rows that such a list can show, whatever is searched for; their statement has no places. */
  readonly live: (...parts: Parameters<Build>) => Knex.QueryBuilder;
  /** Among them `id` and `createdAt`, which the page is sorted by. */
  readonly columns: readonly string[];
  /** Those of the columns whose values can be long, with what stands for one whose row was deleted before it was read. */
  readonly unbounded: Readonly<Record<string, unknown>>;
  readonly values?: readonly unknown[];
}

/**
 * Bytes of a column on one page, as stored: unpacked they are at most a hundred times as many, which PostgreSQL writes
 * well within the statement timeout. A value that is longer than its share is read by a statement of its own.
 */
const PAGE_BYTES = 262_144;

/**
 * One page of rows, which sort by creation time, then id: two named statements side by side. Where the answer is sent
 * piece by piece, a mark stands in the place of a long value, which is read when its turn comes.
 */
export async function page<T>(scope: Scope, source: Source, query: PageQuery): Promise<Page<T>> {
  const { key, rows, values = [] } = source;
  const { order, take, offset } = window(query);
  const counted: Build = (...parts) => rows(...parts).count("*");
  const [found, [total]] = await Promise.all([
    scope.named<Found>(`${key}.${order}`, shortValues(source, order), [...values, take, offset]),
    scope.named<{ count: string }>(`${key}.count`, counted, values),
  ]);
  const data: unknown[] = [];
  for (const row of found)
    data.push(
      row.long.length === 0 ? row : { ...row, ...(await longValues(scope, source, row.id, row.long)) },
    );
  return { data: data as T[], meta: metaOf(query, Number(total?.count)) };
}

/** A row with the names of the columns whose values are too long to come with it. */
interface Found {
  readonly id: string;
  readonly long: readonly string[];
}

/** Rows of a page without the values that are longer than their share. Sizes are told without unpacking anything. */
function shortValues({ rows, columns, unbounded, values = [] }: Source, order: "asc" | "desc"): Build {
  return (table, $, db, all) => {
    const quoted = (name: string) => db.ref(name).toQuery();
    const sorted = rows(table, $, db, all)
      .select([...columns])
      .orderBy(byAge(order));
    const take = `$${values.length + 2}`; // the organization is the first value of every named statement
    const isLong = (name: string) => `pg_column_size(${quoted(name)}) > ${PAGE_BYTES} / ${take}::int`;
    const shown = columns.map((name) =>
      name in unbounded
        ? `case when ${isLong(name)} then null else ${quoted(name)} end as ${quoted(name)}`
        : quoted(name),
    );
    const long = Object.keys(unbounded).map((name) => `case when ${isLong(name)} then '${name}' end`);
    return db.raw(
      `select ${shown.join(", ")}, array_remove(array[${long.join(", ")}], null) as long
       from (${sorted.toSQL().toNative().sql} limit ${take} offset $${values.length + 3}) as page
       order by created_at ${order}, id ${order}`,
    );
  };
}

/** The long values of a row, or what stands for them in an answer. */
async function longValues(
  scope: Scope,
  { key, live, unbounded }: Source,
  id: string,
  names: readonly string[],
): Promise<Record<string, unknown>> {
  const read = async (name: string) => {
    const one: Build = (table, $, db, all) =>
      live(table, $, db, all)
        .select(name)
        .where({ id: $(1) });
    const [row] = await scope.named<Record<string, unknown>>(`${key}.long.${name}`, one, [id]);
    return row ? row[name] : unbounded[name];
  };
  const values: Record<string, unknown> = {};
  for (const name of names) values[name] = lateJson(scope, () => read(name)) ?? (await read(name));
  return values;
}

/** By scope, what uses the last of its long values. */
const turns = new WeakMap<Scope, Promise<unknown>>();

/** Uses a value of a listed row. Those that are read only now are read and used one after another, so that few are held at once. */
export function withWhole<V, R>(scope: Scope, value: V, use: (value: V) => Promise<R>): Promise<R> {
  if (!isLate(value)) return use(value);
  const before = turns.get(scope) ?? Promise.resolve();
  const turn = before.then(async () => use((await readLate(scope, String(value))) as V)); // it stands for a value of the column
  turns.set(
    scope,
    turn.catch(() => undefined),
  );
  return turn;
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
