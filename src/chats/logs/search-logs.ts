import { perId } from "../../platform/database/per-id";
import { byAge } from "../../platform/database/order";
import type { Build, Scope } from "../../platform/database/scope";

/** What is looked for, and which part of what is found is wanted. */
export interface LogSearch {
  readonly search: string;
  readonly type: string | null;
  readonly order: "asc" | "desc";
  readonly take: number;
  readonly offset: number;
}

/** How many chats are read one after another before the index is asked. */
export const NEAR = 500;

/**
 * The chats of each assistant in which something was said, or whose label has it; by creation.
 * Two ways, as no single one is fast for all words: a common word stands in the next few hundred chats, which are read
 * first; of a rare one the trigram index knows the few places, where reading would go through everything.
 */
export async function searchLogs<R extends object>(
  scope: Scope,
  ids: readonly string[],
  columns: readonly string[],
  asked: LogSearch,
): Promise<R[][]> {
  const near = await find<R>(scope, ids, columns, asked, nearOf(asked));
  const short = ids.filter((_, index) => near[index]!.length < asked.take);
  if (short.length === 0) return near;
  const rest = new Map<string, R[]>();
  const found = await find<R>(scope, short, columns, asked, indexed);
  short.forEach((id, index) => rest.set(id, found[index]!));
  return ids.map((id, index) => rest.get(id) ?? near[index]!);
}

type Rows = (columns: readonly string[], asked: LogSearch) => Build;

function find<R extends object>(
  scope: Scope,
  ids: readonly string[],
  columns: readonly string[],
  asked: LogSearch,
  rows: Rows,
): Promise<R[][]> {
  const { search, type, take, offset } = asked;
  const values = [`%${search.replace(/[\\%_]/g, "\\$&")}%`, ...(type === null ? [] : [type])];
  // Never a named statement for a text search: its generic plan would walk everything.
  return perId<R>(scope, undefined, ids, rows(columns, asked), values, { take, offset });
}

/** All that is known of a chat beside what was said in it: the expression of the index. */
export const ABOUT = `(coalesce(label, phone_number, first_words, '') || ' ' || coalesce(user_name, '') || ' ' || coalesce(user_id, '')
  || ' ' || coalesce(anonymous_id, '') || ' ' || coalesce(external_id, '') || ' ' || coalesce(nullif(metadata, '{}')::text, ''))`;

/** The next chats, each looked into. */
const nearOf =
  ({ take, offset }: LogSearch): Rows =>
  (columns, { order, type }) =>
  (table, $) => {
    const next = table("chats")
      .select("id")
      .whereRaw("assistant_id = wanted.id")
      .orderBy(byAge(order, "startedAt"));
    if (type !== null) void next.where("channel", $(2));
    const said = table("messages").whereRaw("chat_id = chats.id").where("content", "ilike", $(1));
    return table("chats")
      .select([...columns])
      .whereRaw(`id in (? limit ${NEAR + 10 * (take + offset)})`, [next])
      .where((either) => either.whereRaw(`${ABOUT} ilike ?`, [$(1)]).orWhereExists(said))
      .orderBy(byAge(order, "startedAt"));
  };

/** Those that the index names. */
const indexed: Rows =
  (columns, { order, type }) =>
  (table, $) => {
    const said = table("messages")
      .select("chatId")
      .whereRaw("assistant_id = wanted.id")
      .where("content", "ilike", $(1));
    const labelled = table("chats")
      .select("id")
      .whereRaw("assistant_id = wanted.id")
      .whereRaw(`${ABOUT} ilike ?`, [$(1)]);
    const rows = table("chats")
      .select([...columns])
      .whereRaw("id in (? union ?)", [said, labelled])
      .orderBy(byAge(order, "startedAt"));
    return type === null ? rows : rows.where("channel", $(2));
  };
