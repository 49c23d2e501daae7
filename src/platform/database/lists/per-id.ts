import type { Knex } from "knex";
import { FilteredStatement, type Conditions, type Filter } from "./filtered-statement";
import { replicated } from "./replicated";
import type { Scope } from "../scope";
import { sqlOf, type Build, type Pieces, type QueryOf } from "../statement";

/** The range of rows to read for each id. */
interface Slice {
  readonly take: number;
  readonly offset?: number;
}

type RowOfId<R> = R & { readonly wantedId: string };
type Rows<R> = (pieces: Pieces) => QueryOf<R>;

/** A statement that reads the rows of several ids. */
export type PerId<R, F extends string> = FilteredStatement<RowOfId<R>, F>;

export interface PerIdOptions<F extends string> {
  readonly conditions?: Conditions<F>;
  readonly isPrepared?: boolean;
}

/** Number of values before those of the rows: ids, limit, offset. */
const OWN_VALUES = 3;

/**
 * Creates a statement that reads the rows of several ids: each part of the lateral join walks only as far into an
 * index as necessary.
 * @param rows the rows of one id, which its SQL calls `wanted.id`, with the conditions applied
 */
export function perId<R, F extends string = never>(
  rows: Rows<R>,
  { conditions, isPrepared }: PerIdOptions<F> = {},
): PerId<R, F> {
  const build: Build<RowOfId<R>> = (pieces) => {
    const $: Pieces["$"] = (position) => pieces.$(position + OWN_VALUES);
    const query: Knex.Raw = pieces.db.raw(
      `select wanted.id as wanted_id, found.* from unnest($2::text[]) as wanted(id)
       cross join lateral (${sqlOf(rows({ ...pieces, $ }))} limit $3 offset $4) as found`,
    );
    return query;
  };
  return new FilteredStatement(conditions, build, isPrepared);
}

/** A statement that counts the rows of several ids. */
export type CountPerId<F extends string> = FilteredStatement<
  { readonly ownerId: string; readonly count: string },
  F
>;

/** Creates a statement that counts the rows of several ids. @param owner column that contains the id */
export const countPerId = <F extends string>(
  owner: string,
  rows: (pieces: Pieces) => Knex.QueryBuilder,
  conditions?: Conditions<F>,
): CountPerId<F> =>
  new FilteredStatement(conditions, (pieces) =>
    pieces
      .narrowed(rows(pieces))
      .whereRaw("?? = any(?::text[])", [owner, pieces.$(1)])
      .groupBy(owner)
      .select({ ownerId: owner })
      .count("*"),
  );

/** The number of rows of each id, by one statement. */
export async function readCounts<F extends string>(
  scope: Scope,
  counts: CountPerId<F>,
  ids: readonly string[],
  filter: Filter<F> = {},
): Promise<number[]> {
  const { statement, values } = counts.by(filter);
  const rows = await replicated(scope, (from) => from.read(statement, [ids, ...values]));
  const totals = new Map(rows.map(({ ownerId, count }) => [ownerId, Number(count)]));
  return ids.map((id) => totals.get(id) ?? 0);
}

/**
 * Reads the rows of several ids with one statement, grouped by id.
 * @param values the values of the rows' own parameters
 */
export async function readPerId<R, F extends string>(
  scope: Scope,
  rows: PerId<R, F>,
  ids: readonly string[],
  { take, offset = 0 }: Slice,
  filter: Filter<F> = {},
  values: readonly unknown[] = [],
): Promise<RowOfId<R>[][]> {
  const { statement, values: given } = rows.by(filter);
  const all = [ids, take, offset, ...values, ...given];
  const found = await replicated(scope, (from) => from.read(statement, all));
  const groups = new Map<string, RowOfId<R>[]>(ids.map((id) => [id, []]));
  for (const row of found) groups.get(row.wantedId)!.push(row);
  return ids.map((id) => groups.get(id)!);
}
