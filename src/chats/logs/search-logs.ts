import { perId, readPerId, type PerId, type PerIdOptions } from "../../platform/database/per-id";
import { byAge, inBothOrders, type Order } from "../../platform/database/order";
import type { Rows } from "../../platform/database/rows";
import type { Scope } from "../../platform/database/scope";

/** What is looked for, and which part of what is found is wanted. */
export interface LogSearch {
  readonly search: string;
  readonly type: string | null;
  readonly order: Order;
  readonly take: number;
  readonly offset: number;
}

/** Columns of a chat that a list of logs shows. */
export const LISTED = ["id", "channel", "label", "phoneNumber", "firstWords", "startedAt"] as const;
export type Listed = Pick<Rows["chats"], (typeof LISTED)[number]>;

/** How many chats are read one after another before the index is asked. */
export const NEAR = 500;

/**
 * The chats of each assistant in which something was said, or whose label has it; by creation.
 * Two ways, as no single one is fast for all words: a common word stands in the next few hundred chats, which are read
 * first; of a rare one the trigram index knows the few places, where reading would go through everything.
 */
export async function searchLogs(
  scope: Scope,
  ids: readonly string[],
  { search, type, order, take, offset }: LogSearch,
): Promise<Listed[][]> {
  const pattern = `%${search.replace(/[\\%_]/g, "\\$&")}%`;
  const find = (rows: PerId<Listed, "type">, ids: readonly string[], values: readonly unknown[]) =>
    readPerId(scope, rows, ids, { take, offset }, { type }, values);
  const near = await find(NEXT[order], ids, [pattern, NEAR + 10 * (take + offset)]);
  const short = ids.filter((_, index) => near[index]!.length < take);
  if (short.length === 0) return near;
  const rest = new Map<string, Listed[]>();
  const found = await find(INDEXED[order], short, [pattern]);
  short.forEach((id, index) => rest.set(id, found[index]!));
  return ids.map((id, index) => rest.get(id) ?? near[index]!);
}

/** Everything known of a chat beside its messages: the expression of the index. */
export const ABOUT = `(coalesce(label, phone_number, first_words, '') || ' ' || coalesce(user_name, '') || ' ' || coalesce(user_id, '')
  || ' ' || coalesce(anonymous_id, '') || ' ' || coalesce(external_id, '') || ' ' || coalesce(nullif(metadata, '{}')::text, ''))`;

/** Not prepared: a generic plan of a text search would walk everything. */
const SEARCH: PerIdOptions<"type"> = {
  isPrepared: false,
  conditions: { type: (rows, value) => rows.where("channel", value) },
};

/** Looks into each of the next chats. Values: the pattern, and how many chats. */
const NEXT = inBothOrders((order) =>
  perId<Listed, "type">(({ table, $, narrowed }) => {
    const next = narrowed(table("chats").whereRaw("assistant_id = wanted.id"))
      .select("id")
      .orderBy(byAge(order, "startedAt"));
    const said = table("messages").whereRaw("chat_id = chats.id").where("content", "ilike", $(1));
    return table("chats")
      .select(LISTED)
      .whereRaw("id in (? limit ?)", [next, $(2)])
      .where((either) => either.whereRaw(`${ABOUT} ilike ?`, [$(1)]).orWhereExists(said))
      .orderBy(byAge(order, "startedAt"));
  }, SEARCH),
);

/** Asks the index. Value: the pattern. */
const INDEXED = inBothOrders((order) =>
  perId<Listed, "type">(({ table, $, narrowed }) => {
    const said = table("messages")
      .select("chatId")
      .whereRaw("assistant_id = wanted.id")
      .where("content", "ilike", $(1));
    const labelled = table("chats")
      .select("id")
      .whereRaw("assistant_id = wanted.id")
      .whereRaw(`${ABOUT} ilike ?`, [$(1)]);
    return narrowed(table("chats").whereRaw("id in (? union ?)", [said, labelled]))
      .select(LISTED)
      .orderBy(byAge(order, "startedAt"));
  }, SEARCH),
);
