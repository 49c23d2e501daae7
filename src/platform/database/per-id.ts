import type { Build, Scope } from "./scope";

/** Which of the rows that belong to each id. */
interface Cut {
  readonly take: number;
  readonly offset?: number;
}

/**
 * For each id its own rows, by one statement: each part of the lateral join walks only as far into an index as its
 * cut needs.
 * @param key as for `scope.named`
 * @param rows the rows of one id, which SQL in it calls `wanted.id`
 * @param values fill the places of `rows`
 */
export async function perId<R extends object>(
  scope: Scope,
  key: string | undefined,
  ids: readonly string[],
  rows: Build,
  values: readonly unknown[],
  { take, offset = 0 }: Cut,
): Promise<R[][]> {
  const joined: Build = (table, $, db, all) => {
    const { sql } = rows(table, (position) => $(position + 3), db, all)
      .toSQL()
      .toNative();
    return db.raw(
      `select wanted.id as wanted_id, found.* from unnest($2::text[]) as wanted(id)
       cross join lateral (${sql} limit $3 offset $4) as found`,
    );
  };
  const found = await scope.named<R & { wantedId: string }>(key, joined, [ids, take, offset, ...values]);
  const groups = new Map(ids.map((id) => [id, [] as R[]]));
  for (const row of found) groups.get(row.wantedId)!.push(row);
  return ids.map((id) => groups.get(id)!);
}
