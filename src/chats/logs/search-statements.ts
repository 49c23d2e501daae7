import type { Knex } from "knex";
import { isBehindPolicies } from "../../platform/database/behind-policies";
import { FilteredStatement } from "../../platform/database/lists/filtered-statement";
import { inBothOrders, type Order } from "../../platform/database/lists/order";
import { sqlOf, type Pieces } from "../../platform/database/statement";
import { byStart, LOG_CONDITIONS, type EntryRow, type LogConditions } from "./log-conditions";
import { INDEXED_TEXT, isAbout, LABEL, patternInJson, SEARCHED } from "./searched-text";

/** Chats per statement that scans. */
export const CHUNK = 500;
/** Chats in which the words of a text are counted. */
const SAMPLE = 100;

/** Columns that a search returns, those of `FoundRow` among them. */
type Columns = readonly (keyof EntryRow)[];
export type FoundRow = Pick<EntryRow, "id" | "startedAt">;

/** A match or, with a reason, where a search stopped: the first chat for which there was no time, or the last of the chunk. */
type Scanned<R> = R & { readonly stop: "TIME" | "END" | null };
type Next<R> = FilteredStatement<R, keyof LogConditions>;
type Indexed<R> = FilteredStatement<R, IndexedConditions>;
export type Rarest = FilteredStatement<{ readonly chats: number }, keyof LogConditions>;
type Counted = FilteredStatement<{ readonly count: number }, IndexedConditions | "status">;
type IndexedConditions = Exclude<keyof LogConditions, "assistantId">;

/** The statements of searches that return some columns. */
export interface SearchStatements<R> {
  readonly next: Readonly<Record<Order, Next<Scanned<R>>>>;
  readonly places: Readonly<Record<Order, Next<R>>>;
  readonly one: Readonly<Record<Order, Next<R>>>;
  readonly rarest: Readonly<Record<Order, Rarest>>;
  readonly ofAssistant: Readonly<Record<Order, Indexed<R>>>;
  readonly ofAll: Readonly<Record<Order, Indexed<R>>>;
}

/** Creates the statements of a search. @param columns the columns of R */
export const searchReading = <R extends FoundRow>(
  columns: readonly (keyof R & keyof EntryRow)[],
): SearchStatements<R> => ({
  next: inBothOrders((order) => nextIn(order, columns)),
  places: inBothOrders((order) => placesIn(order, columns)),
  one: inBothOrders((order) => oneIn(order, columns)),
  rarest: RAREST,
  ofAssistant: inBothOrders((order) => indexedIn(order, columns, true)),
  ofAll: inBothOrders((order) => indexedIn(order, columns, false)),
});

/** First messages of a chat that are searched without a look at the clock. A message has at most 1 MiB. */
const UNTIMED = 16;

/**
 * Scans the next chats, until the page is full. The limit in the ordered inner query lets the outer one stop there, and a
 * scalar subquery, unlike `exists`, is never answered by a hash of all messages. Messages come before the other text,
 * because a page that is full is mostly so by common words in them. The time is checked before each chat and each later
 * message of a long one. The end of the chunk is only read if the page is not full: the parts of `union all` run one
 * after the other, as PostgreSQL never runs parts with a limit in parallel. Parameters: pattern, limit, most ms.
 */
const nextIn = <R>(order: Order, columns: Columns): Next<Scanned<R>> =>
  new FilteredStatement(LOG_CONDITIONS[order], ({ db, table, $, narrowed }) => {
    const listOf = (names: readonly string[]) =>
      names.map((name) => db.raw("??", [name]).toQuery()).join(", ");
    const next = narrowed(table("chats")).orderBy(byStart(order));
    const chunk = sqlOf(next.clone().select(...new Set([...columns, ...SEARCHED, ...LABEL])));
    const end = sqlOf(next.select(...columns, db.raw("'END'")));
    const isOver = db.raw("clock_timestamp() > (select statement_timestamp() + ? * interval '1 ms')", [$(3)]);
    const message = table("messages")
      .select(db.raw("true"))
      .whereRaw("messages.chat_id = chats.id")
      .whereRaw(`(sequence > ${UNTIMED} and ? or content ilike ?)`, [isOver, $(1)]);
    const pattern = $(1).toQuery();
    const about = isAbout(pattern, `(select ${patternInJson(pattern)})`); // made once, not for each chat
    const query: Knex.Raw = db.raw(
      `(select ${listOf(columns)}, case when ? then 'TIME' end as stop from (${chunk} limit ${CHUNK}) as chats
         where ? or (${sqlOf(message)} limit 1) or ${about}
         order by started_at ${order}, id ${order} limit ?)
       union all (${end} limit 1 offset ${CHUNK - 1}) limit ?`,
      [isOver, isOver, $(2), $(2)],
    );
    return query;
  });

/** The next chats, searched or not. */
const placesIn = <R>(order: Order, columns: Columns): Next<R> =>
  new FilteredStatement(LOG_CONDITIONS[order], ({ db, table, narrowed }) => {
    const next = narrowed(table("chats"))
      .orderBy(byStart(order))
      .select(...columns);
    return db.raw<never>(`${sqlOf(next)} limit ${CHUNK}`);
  });

/** A chat, if it meets the conditions. Parameter: id. */
const oneIn = <R>(order: Order, columns: Columns): Next<R> =>
  new FilteredStatement(LOG_CONDITIONS[order], ({ db, table, $, narrowed }) => {
    const one = narrowed(table("chats").where({ id: $(1) })).select(...columns);
    return db.raw<never>(`${sqlOf(one)} limit 1`);
  });

/** In how many of the next chats the rarest of some words occurs. Parameter: a pattern for each word. */
const RAREST = inBothOrders<Rarest>(
  (order) =>
    new FilteredStatement(LOG_CONDITIONS[order], ({ db, table, $, narrowed }) => {
      const next = sqlOf(
        narrowed(table("chats"))
          .orderBy(byStart(order))
          .select("id", ...SEARCHED, ...LABEL),
      );
      const contents = sqlOf(table("messages").select("content").whereRaw("messages.chat_id = chats.id"));
      const query: Knex.Raw = db.raw(
        `with sample as materialized (
             select ${INDEXED_TEXT} || ' ' || array_to_string(array(${contents}), ' ') as text
             from (${next} limit ${SAMPLE}) as chats
           )
           select min(chats)::integer as chats from (
             select count(*) filter (where text ilike word) as chats from sample, unnest(?::text[]) as word group by word
           ) as counted`,
        [$(1)],
      );
      return query;
    }),
);

/** The ids of the chats that the trigram index finds. @param assistant restricts the search, if it is not null */
function foundIn({ db, table, $ }: Pieces, assistant: Knex.Raw | null): string {
  const messages = table("messages").select("chatId as id").where("content", "ilike", $(1));
  const pattern = $(1).toQuery();
  const labels = table("chats")
    .select("id")
    .whereRaw(`${INDEXED_TEXT} ilike ${patternInJson(pattern)} and ${isAbout(pattern)}`);
  if (isBehindPolicies(db))
    return db.raw("select parley_searched_chats(?, ?) as id", [$(1), assistant]).toQuery();
  if (assistant) for (const each of [messages, labels]) each.where("assistantId", assistant);
  return `${sqlOf(messages)} union ${sqlOf(labels)}`;
}

/**
 * Searches with the trigram index. Not prepared, because the plan depends on the text; materialized, because the order
 * of the list must not replace the index. Parameters: pattern, limit, offset, and the assistant, if it has one.
 */
const indexedIn = <R>(order: Order, columns: Columns, ofAssistant: boolean): Indexed<R> =>
  new FilteredStatement<R, IndexedConditions>(
    LOG_CONDITIONS[order],
    (pieces) => {
      const { db, table, $, narrowed } = pieces;
      const assistant = ofAssistant ? $(4) : null;
      const rows = narrowed(table("chats").whereRaw("id in (select id from found)"))
        .select(...columns)
        .orderBy(byStart(order));
      if (assistant) rows.where("assistantId", assistant);
      const query: Knex.Raw = db.raw(
        `with found as materialized (${foundIn(pieces, assistant)}) ${sqlOf(rows)} limit ? offset ?`,
        [$(2), $(3)],
      );
      return query;
    },
    false,
  );

/** Conditions of a count. */
const COUNTED = {
  ...LOG_CONDITIONS.desc,
  status: (rows: Knex.QueryBuilder, value: Knex.Raw) => rows.where("status", value),
};

/** Counts what the trigram index finds, by the same plan as a page. Parameters: pattern and the assistant, if it has one. */
const countedIn = (ofAssistant: boolean): Counted =>
  new FilteredStatement<{ readonly count: number }, IndexedConditions | "status">(
    COUNTED,
    (pieces) => {
      const { db, table, $, narrowed } = pieces;
      const assistant = ofAssistant ? $(2) : null;
      const rows = narrowed(table("chats").whereRaw("id in (select id from found)"));
      if (assistant) rows.where("assistantId", assistant);
      const count = rows.select(db.raw("count(*)::integer as count"));
      const query: Knex.Raw = db.raw(
        `with found as materialized (${foundIn(pieces, assistant)}) ${sqlOf(count)}`,
      );
      return query;
    },
    false,
  );

/** The statements that count what a search finds in an assistant, and in all. */
export const SEARCH_COUNTS = { ofAssistant: countedIn(true), ofAll: countedIn(false) };
