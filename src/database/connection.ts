import type { Knex } from "knex";

/** Which part of an endless list is asked for. */
export interface ConnectionQuery {
  /** Most entries to return: 1 to 100; default 20. */
  readonly first?: number | null;
  /** Cursor of the entry before the first wanted one. */
  readonly after?: string | null;
}

export interface Connection<T> {
  readonly edges: { readonly cursor: string; readonly node: T }[];
  readonly nodes: T[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** The newest first; a cursor is the id of its entry, so it stays valid whatever is added. */
export async function connection<T extends { id: string }>(
  rows: Knex.QueryBuilder,
  { first, after }: ConnectionQuery,
  idColumn = "id",
): Promise<Connection<T>> {
  const take = first ?? 20;
  const wanted = rows
    .clone()
    .orderBy(idColumn, "desc")
    .limit(take + 1);
  const found = (await (after == null ? wanted : wanted.where(idColumn, "<", after))) as T[];
  return connectionOf(found, take);
}

/** What was found when one more entry than wanted was asked for, as a connection. */
export function connectionOf<T extends { id: string }>(found: readonly T[], take: number): Connection<T> {
  const nodes = found.slice(0, take);
  return {
    nodes,
    edges: nodes.map((node) => ({ cursor: node.id, node })),
    pageInfo: { hasNextPage: found.length > take, endCursor: nodes.at(-1)?.id ?? null },
  };
}
