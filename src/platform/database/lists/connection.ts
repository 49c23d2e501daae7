import type { Knex } from "knex";
import { invalid, quoted } from "../../errors";
import { cursorAt, idIn, isPlaced, timeIn, type CursorKind } from "./cursors";
import { BOUNDS, opposite, type Order } from "./order";
import type { QueryOf } from "../statement";

/** The order of a cursor-paginated list, by creation time, with its description. */
export const LIST_ORDERS = {
  NEWEST_FIRST: "Newest entries first.",
  OLDEST_FIRST: "Oldest entries first.",
} as const;
export type ListOrder = keyof typeof LIST_ORDERS;

/** The requested part of a cursor-paginated list. */
export interface ConnectionQuery {
  /** Largest number of entries from the start: 1 to 100; default 20. */
  readonly first?: number | null;
  /** Cursor of the entry before the first requested one. */
  readonly after?: string | null;
  /** Largest number of entries from the end, instead of `first`: 1 to 100. */
  readonly last?: number | null;
  /** Cursor of the entry after the last requested one. */
  readonly before?: string | null;
  /** Default: newest first. */
  readonly orderBy?: ListOrder | null;
}

/** Number of entries of a page whose size the client leaves open. */
export const DEFAULT_SIZE = 20;

export interface Connection<T> {
  readonly edges: { readonly cursor: string; readonly node: T }[];
  readonly nodes: T[];
  readonly pageInfo: PageInfo;
  /** Counts the entries of the whole list. Null, with a warning, for a search that takes too long. */
  readonly count: () => Promise<number | null>;
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** The part of a list to read: in the order of the list or, for a page before a cursor or at the end, in the opposite one. */
export interface Span {
  readonly take: number;
  readonly order: Order;
  /** Cursor of the entry before the first one to read. */
  readonly after: string | null;
  /** Cursor of the entry after the last one to read. */
  readonly before: string | null;
}

/** @throws BAD_USER_INPUT for both `first` and `last` */
export function spanOf({ first, after, last, before, orderBy }: ConnectionQuery): Span {
  if (first != null && last != null)
    throw invalid([{ path: "last", message: "must not be given together with first" }]);
  const order = orderBy === "OLDEST_FIRST" ? "asc" : "desc";
  const bounds = { after: after ?? null, before: before ?? null };
  if (last == null) return { take: first ?? DEFAULT_SIZE, order, ...bounds };
  return { take: last, order: opposite(order), after: bounds.before, before: bounds.after };
}

export const CURSORS = ["after", "before"] as const;
export type CursorName = (typeof CURSORS)[number];

/** @throws BAD_USER_INPUT about a cursor that no page has contained */
export function unknownCursor(
  cursor: string,
  path: CursorName,
  expected = "a cursor of another page",
): never {
  throw invalid([{ path, message: `must be ${expected}; got ${quoted(cursor)}` }]);
}

async function contains(entries: QueryOf<unknown>, id: string, idColumn = "id"): Promise<boolean> {
  const found = (await entries.where({ [idColumn]: id }).limit(1)) as unknown[]; // untyped by Knex
  return found.length > 0;
}

interface CursorCheck {
  readonly kind?: CursorKind;
  readonly idColumn?: string;
  readonly expected?: string;
}

/**
 * Checks the cursors of a list whose entries may have been removed: the list then continues at the place in the cursor or,
 * if it is an id alone, at the time in it.
 * @param entries all entries that the cursors could name
 * @param kind what the list is ordered by
 * @param expected a valid cursor, for the message
 * @throws BAD_USER_INPUT for an id without a time that names no entry
 */
export async function checkCursors(
  entries: () => QueryOf<unknown>,
  query: Pick<ConnectionQuery, CursorName>,
  { kind = "at", idColumn = "id", expected }: CursorCheck = {},
): Promise<void> {
  for (const name of CURSORS) {
    const cursor = query[name];
    if (cursor == null || isPlaced(kind, cursor)) continue;
    if (!(await contains(entries(), cursor, idColumn))) unknownCursor(cursor, name, expected);
  }
}

/** The values of the columns by which a list is sorted at a cursor, in SQL. */
export interface Place {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/**
 * Sorts rows by unique columns and limits them to a span, with one row more than the page holds.
 * @param placeOf the place of a cursor
 */
export function spanned<Q extends Knex.QueryBuilder>(
  rows: Q,
  { take, order, ...bounds }: Span,
  columns: readonly string[],
  placeOf: (cursor: string) => Place,
): Q {
  const names = columns.map(() => "??").join(", ");
  for (const name of CURSORS) {
    const cursor = bounds[name];
    if (cursor === null) continue;
    const { sql, values } = placeOf(cursor);
    void rows.whereRaw(`(${names}) ${BOUNDS[order][name]} (${sql})`, [...columns, ...values] as Knex.Value[]);
  }
  void rows.orderBy(columns.map((column) => ({ column, order }))).limit(take + 1);
  return rows;
}

/**
 * SQL with a place for a query of a value, and the value instead if it finds none. By itself a query, because PostgreSQL
 * assumes that `coalesce` may reveal hidden rows: under row-level security it would use no index to compare a column
 * with it, and read all entries up to a cursor.
 */
export const valueOr = (other: string): string => `(select coalesce((?), ${other}))`;

/** The place of a cursor in a list by creation: of its entry or, if that was removed, the place in the cursor. @param rows all entries */
export function placeByAge(
  rows: Knex.QueryBuilder,
  cursor: string,
  idColumn = "id",
  createdAt = "createdAt",
): Place {
  const id = idIn(cursor);
  const created = rows.where({ [idColumn]: id }).select(createdAt);
  return { sql: `${valueOr("?::timestamptz")}, ?`, values: [created, timeIn(cursor), id] };
}

/** The entries of a list: all rows, the column of their time, and the nodes that they become. */
interface Aged<R, T> {
  readonly rows: QueryOf<R>;
  readonly createdAt?: string;
  readonly map: (row: R) => T;
}

/**
 * Returns a page of a list, sorted by creation. Cursors stay valid when entries are added or removed.
 * @throws BAD_USER_INPUT for an unknown cursor
 */
export async function connectionByAge<R extends { readonly id: string }, T>(
  { rows, createdAt = "createdAt", map }: Aged<R, T>,
  query: ConnectionQuery,
): Promise<Connection<T>> {
  await checkCursors(() => rows.clone(), query);
  const placeOf = (cursor: string) => placeByAge(rows.clone(), cursor, "id", createdAt);
  const found = (await spanned(rows.clone(), spanOf(query), [createdAt, "id"], placeOf)) as R[]; // a part of the rows
  const timeOf = (row: R) => row[createdAt as keyof R] as Date; // a column of a time
  const page = connectionBy(
    found,
    query,
    (row) => cursorAt(timeOf(row), row.id),
    () => countOf(rows),
  );
  return withNodes(page, page.nodes.map(map));
}

/** Counts the rows of a query that is neither sorted nor limited. */
export async function countOf(rows: QueryOf<unknown>): Promise<number> {
  const [total] = (await rows.clone().count("*")) as { count: string }[]; // untyped by Knex
  return Number(total?.count);
}

/** The same page with other nodes of its entries, in the same order. */
export const withNodes = <T>(page: Connection<unknown>, nodes: T[]): Connection<T> => ({
  ...page,
  nodes,
  edges: page.edges.map(({ cursor }, index) => ({ cursor, node: nodes[index]! })),
});

/**
 * Builds a connection from the rows of a span, of which there may be one more than the page holds. The entry of a cursor
 * lies outside of its page.
 */
export function connectionBy<T>(
  found: readonly T[],
  query: ConnectionQuery,
  cursorOf: (node: T) => string,
  count: Connection<T>["count"],
): Connection<T> {
  const { take, after } = spanOf(query);
  const isBackward = query.last != null;
  const read = found.slice(0, take);
  const nodes = isBackward ? read.toReversed() : read;
  const edges = nodes.map((node) => ({ cursor: cursorOf(node), node }));
  const [hasMore, hasOther] = [found.length > take, after !== null];
  const pageInfo = {
    hasNextPage: isBackward ? hasOther : hasMore,
    hasPreviousPage: isBackward ? hasMore : hasOther,
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  };
  return { nodes, edges, pageInfo, count };
}

/**
 * The page of a search that ended early: it ends with the last entry that was searched, and others may follow.
 * @param searchedUpTo cursor of that entry; undefined if the search was completed
 */
export function endingAt<T>(
  searchedUpTo: string | undefined,
  page: Connection<T>,
  { last }: Pick<ConnectionQuery, "last">,
): Connection<T> {
  const { pageInfo } = page;
  if (searchedUpTo === undefined || (last == null ? pageInfo.hasNextPage : pageInfo.hasPreviousPage))
    return page;
  const end =
    last == null
      ? { hasNextPage: true, endCursor: searchedUpTo }
      : { hasPreviousPage: true, startCursor: searchedUpTo };
  return { ...page, pageInfo: { ...pageInfo, ...end } };
}
