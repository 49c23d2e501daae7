import { invalid, quoted } from "../errors";
import { byAge, hasTime } from "./order";
import type { QueryOf } from "./statement";

/** The requested part of a cursor-paginated list. */
export interface ConnectionQuery {
  /** Largest number of entries: 1 to 100; default 20. */
  readonly first?: number | null;
  /** Cursor of the entry before the first requested one. */
  readonly after?: string | null;
}

export interface Connection<T> {
  readonly edges: { readonly cursor: string; readonly node: T }[];
  readonly nodes: T[];
  readonly pageInfo: PageInfo;
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** @throws BAD_USER_INPUT about a cursor that no page has contained */
export function unknownCursor(after: string, expected = "a cursor or endCursor of an earlier page"): never {
  throw invalid([{ path: "after", message: `must be ${expected}; got ${quoted(after)}` }]);
}

async function contains(entries: QueryOf<unknown>, id: string, idColumn = "id"): Promise<boolean> {
  const found = (await entries.where({ [idColumn]: id }).limit(1)) as unknown[]; // untyped by Knex
  return found.length > 0;
}

/**
 * Checks a cursor of a list whose entries may have been removed: the list then continues at the time in the cursor.
 * @param entries all entries that the cursor could name
 * @param expected a valid cursor, for the message
 * @throws BAD_USER_INPUT for a cursor without a time that names no entry
 */
export async function checkCursor(
  entries: () => QueryOf<unknown>,
  after: string | null | undefined,
  { idColumn = "id", expected }: { readonly idColumn?: string; readonly expected?: string } = {},
): Promise<void> {
  if (after == null || hasTime(after)) return;
  if (!(await contains(entries(), after, idColumn))) unknownCursor(after, expected);
}

/**
 * Returns a page of a list from which nothing is removed, newest first. A cursor is the id of its entry, so it stays
 * valid when entries are added.
 * @param createdAt the time column by which entries are sorted, before their id
 * @throws BAD_USER_INPUT for an unknown cursor
 */
export async function connectionByAge<T extends { id: string }>(
  rows: QueryOf<T>,
  { first, after }: ConnectionQuery,
  createdAt: string,
): Promise<Connection<T>> {
  const take = first ?? 20;
  const wanted = rows
    .clone()
    .orderBy(byAge("desc", createdAt))
    .limit(take + 1);
  if (after != null) {
    const last = rows.clone().where({ id: after });
    wanted
      .where(createdAt, "<=", last.clone().select(createdAt))
      .where((either) =>
        either.where(createdAt, "<", last.clone().select(createdAt)).orWhere("id", "<", after),
      );
  }
  const found = (await wanted) as T[]; // a part of the rows
  if (after != null && found.length === 0 && !(await contains(rows.clone(), after))) unknownCursor(after);
  return connectionOf(found, { first, after });
}

/** Like `connectionByAge`, for entries whose ids determine their order. The cursor is not checked. */
export async function connection<T extends { id: string }>(
  rows: QueryOf<T>,
  { first, after }: ConnectionQuery,
  idColumn = "id",
): Promise<Connection<T>> {
  const take = first ?? 20;
  const wanted = rows
    .clone()
    .orderBy(idColumn, "desc")
    .limit(take + 1);
  const found = (await (after == null ? wanted : wanted.where(idColumn, "<", after))) as T[]; // a part of the rows
  return connectionOf(found, { first, after });
}

/** Builds a connection from the rows of a query that fetched one row more than the page holds. */
export const connectionOf = <T extends { readonly id: string }>(
  found: readonly T[],
  query: ConnectionQuery,
): Connection<T> => connectionBy(found, query, ({ id }) => id);

/** Like `connectionOf`, with other cursors. The entry of a cursor comes before its page. */
export function connectionBy<T>(
  found: readonly T[],
  { first, after }: ConnectionQuery,
  cursorOf: (node: T) => string,
): Connection<T> {
  const take = first ?? 20;
  const nodes = found.slice(0, take);
  const edges = nodes.map((node) => ({ cursor: cursorOf(node), node }));
  const pageInfo = {
    hasNextPage: found.length > take,
    hasPreviousPage: after != null,
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  };
  return { nodes, edges, pageInfo };
}
