import { perId, readPerId, type PerId, type PerIdOptions } from "../../platform/database/per-id";
import { byAge, inBothOrders, type Order } from "../../platform/database/order";
import type { Rows } from "../../platform/database/rows";
import type { Scope } from "../../platform/database/scope";

/** A search with its page. */
export interface LogSearch {
  readonly search: string;
  readonly type: string | null;
  readonly order: Order;
  readonly take: number;
  readonly offset: number;
}

/** Columns of a chat in lists of logs. */
export const LIST_COLUMNS = ["id", "channel", "label", "phoneNumber", "firstWords", "startedAt"] as const;
export type ListRow = Pick<Rows["chats"], (typeof LIST_COLUMNS)[number]>;

/** Chats that are scanned before the index is used. */
export const NEAR_CHATS = 500;

/**
 * The chats of each assistant whose messages or label contain a text, by creation. Searches in two ways, because
 * neither is fast for all words: a common word occurs in the next few hundred chats, which are scanned first; for a rare
 * word, for which a scan would read everything, the trigram index has few entries.
 */
export async function searchLogs(
  scope: Scope,
  ids: readonly string[],
  { search, type, order, take, offset }: LogSearch,
): Promise<ListRow[][]> {
  const pattern = `%${search.replace(/[\\%_]/g, "\\$&")}%`;
  const find = (rows: PerId<ListRow, "type">, ids: readonly string[], values: readonly unknown[]) =>
    readPerId(scope, rows, ids, { take, offset }, { type }, values);
  const near = await find(NEXT[order], ids, [pattern, NEAR_CHATS + 10 * (take + offset)]);
  const short = ids.filter((_, index) => near[index]!.length < take);
  if (short.length === 0) return near;
  const rest = new Map<string, ListRow[]>();
  const found = await find(INDEXED[order], short, [pattern]);
  short.forEach((id, index) => rest.set(id, found[index]!));
  return ids.map((id, index) => rest.get(id) ?? near[index]!);
}

/** The searchable text of a chat apart from its messages. Must equal the expression of the index. */
export const SEARCHABLE_TEXT = `(coalesce(label, phone_number, first_words, '') || ' ' || coalesce(user_name, '') || ' ' || coalesce(user_id, '')
  || ' ' || coalesce(anonymous_id, '') || ' ' || coalesce(external_id, '') || ' ' || coalesce(nullif(metadata, '{}')::text, ''))`;

/** Not prepared: the generic plan of a text search would scan everything. */
const SEARCH: PerIdOptions<"type"> = {
  isPrepared: false,
  conditions: { type: (rows, value) => rows.where("channel", value) },
};

/** Scans the next chats. Parameters: pattern, number of chats. */
const NEXT = inBothOrders((order) =>
  perId(({ table, $, narrowed }) => {
    const next = narrowed(table("chats").whereRaw("assistant_id = wanted.id"))
      .select("id")
      .orderBy(byAge(order, "startedAt"));
    const messages = table("messages").whereRaw("chat_id = chats.id").where("content", "ilike", $(1));
    return table("chats")
      .select(...LIST_COLUMNS)
      .whereRaw("id in (? limit ?)", [next, $(2)])
      .where((either) => either.whereRaw(`${SEARCHABLE_TEXT} ilike ?`, [$(1)]).orWhereExists(messages))
      .orderBy(byAge(order, "startedAt"));
  }, SEARCH),
);

/** Searches with the trigram index. Parameter: pattern. */
const INDEXED = inBothOrders((order) =>
  perId(({ table, $, narrowed }) => {
    const messages = table("messages")
      .select("chatId")
      .whereRaw("assistant_id = wanted.id")
      .where("content", "ilike", $(1));
    const byLabel = table("chats")
      .select("id")
      .whereRaw("assistant_id = wanted.id")
      .whereRaw(`${SEARCHABLE_TEXT} ilike ?`, [$(1)]);
    return narrowed(table("chats").whereRaw("id in (? union ?)", [messages, byLabel]))
      .select(...LIST_COLUMNS)
      .orderBy(byAge(order, "startedAt"));
  }, SEARCH),
);
