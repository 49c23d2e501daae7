import { containing } from "../../platform/database/containing";
import type { Knex } from "knex";
import { FilteredStatement } from "../../platform/database/filtered-statement";
import { inBothOrders, type Order } from "../../platform/database/order";
import { replicated } from "../../platform/database/replicated";
import type { Scope } from "../../platform/database/scope";
import { sqlOf } from "../../platform/database/statement";
import { byStart, LOG_CONDITIONS, valuesOf, type EntryRow, type LogConditions } from "./log-conditions";

/** A search with its page. */
export interface LogSearch {
  readonly search: string;
  readonly conditions: LogConditions;
  readonly order: Order;
  readonly take: number;
  readonly offset: number;
}

/** Logs of a page, and the last log that was searched if the search ended before the last one. */
export interface FoundLogs<R> {
  readonly rows: readonly R[];
  readonly searchedUpTo?: string;
}

/** The matches in a chunk of chats, and its last chat if neither the page nor the list ends in it. */
interface Scanned<R> {
  readonly matches: readonly R[];
  readonly last?: string;
}

/** Chats per statement that scans. */
const CHUNK = 500;
/** No further chats are scanned after this time, in ms; it begins again after a search with the index that took all its time. */
const SCAN_MS = 10;
/** Time for a search with the index, in ms, and in times of what the scan before it took if that is more, as on a busy machine. */
const INDEX_TIME = { least: 40, scans: 2 };
/** The same for a text of common words, for which the index reads almost everything; it is part of the time of the scan. */
const INDEX_TIME_OF_COMMON = { least: 4, scans: 0.5 };
/** The chats in which the words of a text are counted, and the least number with a word that is common. */
const SAMPLE = 100;
const LEAST_COMMON = 5;
/** Words that are counted: the longest ones, which are the rarest as a rule. */
const MOST_WORDS = 5;

/** Whether a text contains a trigram, by which the index finds it: three characters in a row, counting an end of a word. */
const HAS_TRIGRAM = /[\p{L}\p{N}]{3}|[\p{L}\p{N}]{2}[^\p{L}\p{N}]|[^\p{L}\p{N}][\p{L}\p{N}]/u;
/** The words of a text that contain a trigram. */
const WORDS = /[\p{L}\p{N}]{3,}/gu;

/**
 * The chats whose messages or label contain a text, by creation. Searches in two ways, because neither is fast for all
 * words: a common word occurs in the next few hundred chats, which are scanned first; for a rare word, for which a scan
 * would read everything, the trigram index has few entries. If neither finishes in time, the search ends early and says
 * so.
 */
export async function searchLogs<R extends FoundRow>(
  scope: Scope,
  query: LogSearch,
  statements: SearchStatements<R>,
): Promise<FoundLogs<R>> {
  const { search, order, take, offset, conditions } = query;
  const pattern = containing(search);
  const found: R[] = [];
  let { after } = conditions;
  const startedAt = performance.now();
  let scanUntil = startedAt + SCAN_MS;
  for (let scanned = CHUNK; ; scanned += CHUNK) {
    const next = { ...conditions, after };
    const missing = offset + take - found.length;
    const { matches, last } = await scan(scope, statements.next[order], next, pattern, missing);
    found.push(...matches);
    const rows = found.slice(offset);
    if (last === undefined) return { rows };
    after = last;
    if (scanned === CHUNK && HAS_TRIGRAM.test(search)) {
      const isCommon = await isOfCommonWords(scope, query, statements.rarest[order]);
      const { least, scans } = isCommon ? INDEX_TIME_OF_COMMON : INDEX_TIME;
      const elapsed = performance.now() - startedAt;
      const complete = await indexed(scope, query, pattern, Math.max(least, scans * elapsed), statements);
      if (complete) return { rows: complete };
      if (!isCommon) scanUntil = performance.now() + SCAN_MS;
    }
    if (performance.now() < scanUntil) continue;
    tell(scope, query, scanned, last);
    return { rows, searchedUpTo: last };
  }
}

/** Whether a text has several words, each of which occurs often. A single common word is in the first chats that are scanned. */
async function isOfCommonWords(
  scope: Scope,
  { search, conditions }: LogSearch,
  rarest: Rarest,
): Promise<boolean> {
  const words = [...new Set(search.match(WORDS))].sort((a, b) => b.length - a.length);
  if (words.length < 2) return false;
  const patterns = words.slice(0, MOST_WORDS).map(containing);
  const { statement, values } = rarest.by(valuesOf(conditions));
  const [row] = await replicated(scope, (from) => from.read(statement, [patterns, ...values]));
  return row!.chats >= LEAST_COMMON;
}

/** Searches with the trigram index. @returns undefined if it takes longer */
async function indexed<R extends FoundRow>(
  scope: Scope,
  { conditions, order, take, offset }: LogSearch,
  pattern: string,
  milliseconds: number,
  { ofAll, ofAssistant }: SearchStatements<R>,
): Promise<R[] | undefined> {
  const { assistantId, ...others } = conditions;
  const { statement, values } = (assistantId == null ? ofAll : ofAssistant)[order].by(valuesOf(others));
  const assistant = assistantId == null ? [] : [assistantId];
  const all = [pattern, take, offset, ...assistant, ...values];
  return replicated(scope, (from) => from.readInTime(Math.ceil(milliseconds), statement, all));
}

/** Searches the next chunk. */
async function scan<R extends FoundRow>(
  scope: Scope,
  next: Next<R>,
  conditions: LogConditions,
  pattern: string,
  most: number,
): Promise<Scanned<R>> {
  const { statement, values } = next.by(valuesOf(conditions));
  const rows = await replicated(scope, (from) => from.read(statement, [pattern, most, ...values]));
  const end = rows.findIndex(({ isEnd }) => isEnd);
  return end < 0 ? { matches: rows } : { matches: rows.toSpliced(end, 1), last: rows[end]!.id };
}

function tell(scope: Scope, { order, conditions }: LogSearch, scanned: number, after: string): void {
  const place = conditions.assistantId == null ? "" : ` of the assistant ${conditions.assistantId}`;
  const part = `${order === "desc" ? "newest" : "oldest"} ${scanned} logs${place}`;
  const from = conditions.after == null ? "" : ` after ${conditions.after}`;
  scope.warn(
    `The search was limited to the ${part}${from}, because the text is too short or too common for the index. Continue with after: "${after}".`,
  );
  scope.notes.continueAfter = after;
}

/** The searchable text of a chat apart from its messages. Must equal the expression of the index. */
export const SEARCHABLE_TEXT = `(coalesce(label, phone_number, first_words, '') || ' ' || coalesce(user_name, '') || ' ' || coalesce(user_id, '')
  || ' ' || coalesce(anonymous_id, '') || ' ' || coalesce(external_id, '') || ' ' || coalesce(nullif(metadata, '{}')::text, ''))`;

/** Columns of `SEARCHABLE_TEXT`: those of lists, and those that lists lack. */
const LABEL = ["label", "phoneNumber", "firstWords"] as const;
const SEARCHED = ["userName", "userId", "anonymousId", "externalId", "metadata"] as const;

/** Columns that a search returns, the id among them. */
type Columns = readonly (keyof EntryRow)[];
type FoundRow = Pick<EntryRow, "id">;

type Next<R> = FilteredStatement<R & { readonly isEnd: boolean }, keyof LogConditions>;
type Indexed<R> = FilteredStatement<R, IndexedConditions>;
type Rarest = FilteredStatement<{ readonly chats: number }, keyof LogConditions>;
type IndexedConditions = Exclude<keyof LogConditions, "assistantId">;

/** The statements of searches that return some columns. */
interface SearchStatements<R> {
  readonly next: Readonly<Record<Order, Next<R>>>;
  readonly rarest: Readonly<Record<Order, Rarest>>;
  readonly ofAssistant: Readonly<Record<Order, Indexed<R>>>;
  readonly ofAll: Readonly<Record<Order, Indexed<R>>>;
}

/** Creates the statements of a search. @param columns the columns of R */
export const searchReading = <R extends FoundRow>(
  columns: readonly (keyof R & keyof EntryRow)[],
): SearchStatements<R> => ({
  next: inBothOrders((order) => nextIn(order, columns)),
  rarest: RAREST,
  ofAssistant: inBothOrders((order) => indexedIn(order, columns, true)),
  ofAll: inBothOrders((order) => indexedIn(order, columns, false)),
});

/**
 * Scans the next chats. The limit in the ordered inner query lets the outer one stop at the last entry of the page,
 * and a scalar subquery, unlike `exists`, is never answered by a hash of all messages. The end of the chunk is looked
 * up only if the page is not full. Parameters: pattern, limit.
 */
const nextIn = <R>(order: Order, columns: Columns): Next<R> =>
  new FilteredStatement(LOG_CONDITIONS[order], ({ db, table, $, narrowed }) => {
    const next = narrowed(table("chats")).orderBy(byStart(order));
    const chunk = sqlOf(next.clone().select(...columns, ...SEARCHED));
    const end = sqlOf(next.clone().select(...columns));
    const listed = columns.map((name) => db.raw("??", [name]).toQuery()).join(", ");
    const message = table("messages")
      .select(db.raw("true"))
      .whereRaw("messages.chat_id = chats.id")
      .where("content", "ilike", $(1));
    const query: Knex.Raw = db.raw(
      `with found as materialized (
             select ${listed} from (${chunk} limit ${CHUNK}) as chats
             where ${SEARCHABLE_TEXT} ilike ? or (${sqlOf(message)} limit 1)
             order by started_at ${order}, id ${order} limit ?
           )
           select found.*, false as is_end from found
           union all
           select last.*, true from (${end} limit 1 offset ${CHUNK - 1}) as last where (select count(*) from found) < ?`,
      [$(1), $(2), $(2)],
    );
    return query;
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
             select ${SEARCHABLE_TEXT} || ' ' || array_to_string(array(${contents}), ' ') as text
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

/**
 * Searches with the trigram index. Not prepared, because the plan depends on the text; materialized, because the order
 * of the list must not replace the index. Parameters: pattern, limit, offset, and the assistant, if it has one.
 */
const indexedIn = <R>(order: Order, columns: Columns, ofAssistant: boolean): Indexed<R> =>
  new FilteredStatement<R, IndexedConditions>(
    LOG_CONDITIONS[order],
    ({ db, table, $, narrowed }) => {
      const messages = table("messages").select("chatId as id").where("content", "ilike", $(1));
      const labels = table("chats")
        .select("id")
        .whereRaw(`${SEARCHABLE_TEXT} ilike ?`, [$(1)]);
      const found = narrowed(table("chats").whereRaw("id in (select id from found)"))
        .select(...columns)
        .orderBy(byStart(order));
      for (const rows of ofAssistant ? [messages, labels, found] : []) rows.where("assistantId", $(4));
      const query: Knex.Raw = db.raw(
        `with found as materialized (${sqlOf(messages)} union ${sqlOf(labels)}) ${sqlOf(found)} limit ? offset ?`,
        [$(2), $(3)],
      );
      return query;
    },
    false,
  );
