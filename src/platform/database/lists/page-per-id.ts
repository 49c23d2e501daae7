import type { Filter } from "./filtered-statement";
import { withLong, type LongColumns } from "./long-values";
import { byAge, inBothOrders, type Order } from "./order";
import {
  columnsOf,
  FAR_OFFSET,
  metaOf,
  page,
  rowsOf,
  window,
  type ColumnOf,
  type List,
  type Page,
  type PageQuery,
} from "./page";
import { countPerId, perId, readCounts, readPerId, type CountPerId, type PerId } from "./per-id";
import type { Rows } from "../tables/rows";
import type { Scope } from "../scope";
import type { TenantTable } from "../tables/tables";

/** The values of a page share the space with those of all other pages that the statement reads. */
const ENTRIES = "($3::int * cardinality($2::text[]))";

/** The statements of a list for each of several owners, such as the assistants of several projects. */
export class ListPerId<T extends TenantTable, C extends ColumnOf<T>, F extends string> {
  readonly found: Record<Order, PerId<Pick<Rows[T], C> & LongColumns, F>>;
  readonly count: CountPerId<F>;

  /** @param owner column with the id of the owner; also a condition of the list */
  constructor(
    readonly list: List<T, C, F>,
    readonly owner: F,
  ) {
    const { source } = list;
    this.found = inBothOrders((order) =>
      perId(
        (pieces) =>
          pieces
            .narrowed(rowsOf(source, pieces))
            .whereRaw("?? = wanted.id", [owner])
            .select(pieces.db.raw(columnsOf(source, pieces.db, ENTRIES)))
            .orderBy(byAge(order)),
        { conditions: source.conditions },
      ),
    );
    this.count = countPerId(owner, (pieces) => rowsOf(source, pieces), source.conditions);
  }
}

/** Reads a page of the list of one owner. Calls in the same tick with equal queries share two statements. */
export function pageOfOwner<T extends TenantTable, C extends ColumnOf<T>, F extends string>(
  scope: Scope,
  lists: ListPerId<T, C, F>,
  ownerId: string,
  query: PageQuery,
  filter: Filter<F> = {},
): Promise<Page<Pick<Rows[T], C>>> {
  const { list, owner } = lists;
  const part = window(query);
  if (part.offset >= FAR_OFFSET) return page(scope, list, query, { ...filter, [owner]: ownerId });
  const name = `${list.source.table}.${owner}.${JSON.stringify([part, filter])}`;
  const loader = scope.loader<Page<Pick<Rows[T], C>>>(name, async (ids) => {
    const [found, counts] = await Promise.all([
      readPerId(scope, lists.found[part.order], ids, part, filter),
      readCounts(scope, lists.count, ids, filter),
    ]);
    return Promise.all(
      ids.map(async (_, index) => ({
        data: await withLong(scope, list, found[index]!),
        meta: metaOf(query, counts[index]!),
      })),
    );
  });
  return loader.load(ownerId);
}
