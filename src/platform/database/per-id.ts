import type { Knex } from "knex";
import { Filtered, type Conditions, type Filter } from "./filtered";
import type { Scope } from "./scope";
import { sqlOf, type Build, type Pieces, type QueryOf } from "./statement";

/** Which of the rows that belong to each id. */
interface Cut {
  readonly take: number;
  readonly offset?: number;
}

type Found<R> = R & { readonly wantedId: string };
type Rows<R> = (pieces: Pieces) => QueryOf<R>;

/** Reads the rows of each of several ids. */
export type PerId<R, F extends string> = Filtered<Found<R>, F>;

export interface PerIdOptions<F extends string> {
  readonly conditions?: Conditions<F>;
  readonly isPrepared?: boolean;
}

/** Values before those of the rows: the ids, how many rows of each, and how many are skipped. */
const OWN_VALUES = 3;

/**
 * A statement that reads for each id its own rows: each part of the lateral join walks only as far into an index as its
 * cut needs.
 * @param rows the rows of one id, which SQL in it calls `wanted.id`, narrowed by the conditions
 */
export function perId<R, F extends string = never>(
  rows: Rows<R>,
  { conditions, isPrepared }: PerIdOptions<F> = {},
): PerId<R, F> {
  const build: Build<Found<R>> = (pieces) => {
    const $: Pieces["$"] = (position) => pieces.$(position + OWN_VALUES);
    const query: Knex.Raw = pieces.db.raw(
      `select wanted.id as wanted_id, found.* from unnest($2::text[]) as wanted(id)
       cross join lateral (${sqlOf(rows({ ...pieces, $ }))} limit $3 offset $4) as found`,
    );
    return query;
  };
  return new Filtered(conditions, build, isPrepared);
}

/**
 * For each id its own rows, by one statement.
 * @param values fill the places of the rows
 */
export async function readPerId<R, F extends string>(
  scope: Scope,
  rows: PerId<R, F>,
  ids: readonly string[],
  { take, offset = 0 }: Cut,
  filter: Filter<F> = {},
  values: readonly unknown[] = [],
): Promise<Found<R>[][]> {
  const { statement, values: given } = rows.by(filter);
  const found = await scope.read(statement, [ids, take, offset, ...values, ...given]);
  const groups = new Map<string, Found<R>[]>(ids.map((id) => [id, []]));
  for (const row of found) groups.get(row.wantedId)!.push(row);
  return ids.map((id) => groups.get(id)!);
}
