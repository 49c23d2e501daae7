import type { Filter } from "../../platform/database/lists/filtered-statement";
import { idIn, partIn } from "../../platform/database/lists/cursors";
import type { Order } from "../../platform/database/lists/order";
import { replicated } from "../../platform/database/lists/replicated";
import type { Scope } from "../../platform/database/scope";
import { containing } from "../../platform/database/values/containing";
import { statement } from "../../platform/database/statement";
import { valuesOf, type LogConditions } from "./log-conditions";
import { isAbout, partsInJson } from "./searched-text";
import { CHUNK, SEARCH_COUNTS, type FoundRow, type SearchStatements } from "./search-statements";

/** Values of conditions on logs, with bounds as `boundsOf` makes them. */
export type LogValues = Filter<keyof LogConditions>;

/** The matches in the next chats. */
export interface Scanned<R> {
  readonly matches: readonly R[];
  /** The last chat that was searched; absent if the page is full or the list has ended. */
  readonly last?: R;
  /** Number of chats that were searched; 0 if time ran out within the first one, `last`, which was searched alone. */
  readonly searched: number;
  /** Sequence of the last message of this chat that was searched, if there was no time for all. */
  readonly message?: number;
}

/** The next chats to search. */
export interface ScanPart {
  readonly order: Order;
  readonly most: number;
  /** Time limit. */
  readonly ms: number;
  /** Time limit of the search in a chat that alone takes longer than `ms`. */
  readonly aloneMs: number;
}

/** Messages per statement in such a chat. A message has at most 1 MiB. */
const MESSAGES = 25;

/** Searches the next chats. At least one of them counts as passed, even if its search was cut short. */
export async function scan<R extends FoundRow>(
  scope: Scope,
  statements: SearchStatements<R>,
  part: ScanPart,
  pattern: string,
  values: LogValues,
): Promise<Scanned<R>> {
  const { order, most, ms, aloneMs } = part;
  const next = statements.next[order].by(values);
  const parameters = [pattern, most, ms, ...next.values];
  const rows = await replicated(scope, (from) => from.read(next.statement, parameters));
  const stop = rows.findIndex((row) => row.stop !== null);
  if (stop < 0) return { matches: rows, searched: CHUNK };
  const matches = rows.slice(0, stop);
  const stopped = rows[stop]!;
  if (stopped.stop === "END") return { matches, last: stopped, searched: CHUNK };
  const places = statements.places[order].by(values);
  const chats = await replicated(scope, (from) => from.read(places.statement, places.values));
  const searched = chats.findIndex(({ id }) => id === stopped.id);
  if (searched < 0) return scan(scope, statements, part, pattern, values); // the chat has been deleted meanwhile
  if (searched > 0) return { matches, last: chats[searched - 1]!, searched };
  return scanAlone(scope, (chats as [R])[0], pattern, aloneMs);
}

/** Searches a single chat. @param after sequence of the last message that was searched before */
async function scanAlone<R extends FoundRow>(
  scope: Scope,
  last: R,
  pattern: string,
  ms: number,
  after = 0,
): Promise<Scanned<R> & { readonly last: R }> {
  const found = await contains(scope, last.id, pattern, ms, after);
  const message = typeof found === "number" ? { message: found } : {};
  return { matches: found === true ? [last] : [], last, searched: 0, ...message };
}

/** Searches the rest of the chat within which an earlier search ended. @returns undefined if there is none, or it was deleted */
export async function scanRest<R extends FoundRow>(
  scope: Scope,
  statements: SearchStatements<R>,
  { order, aloneMs }: Pick<ScanPart, "order" | "aloneMs">,
  pattern: string,
  { after, ...conditions }: LogConditions,
): Promise<(Scanned<R> & { readonly last: R }) | undefined> {
  const message = after == null ? undefined : partIn(after);
  if (after == null || message === undefined) return undefined;
  const { statement, values } = statements.one[order].by(valuesOf(conditions));
  const [row] = await replicated(scope, (from) => from.read(statement, [idIn(after), ...values]));
  return row && scanAlone(scope, row, pattern, aloneMs, message);
}

/** A chat, if a field of it contains a text. Parameters: id, pattern. */
const ABOUT_CHAT = statement(({ table, $ }) =>
  table("chats")
    .select("id")
    .where({ id: $(1) })
    .whereRaw(`${isAbout($(2).toQuery())}`),
);

/**
 * Whether a field or a message of a chat contains a text.
 * @param after sequence of a message: the fields and the messages up to it were searched before
 * @returns the sequence of the last message that was searched, if the search takes longer than `ms`
 */
async function contains(
  scope: Scope,
  chatId: string,
  pattern: string,
  ms: number,
  after: number,
): Promise<boolean | number> {
  const until = performance.now() + ms;
  if (after === 0 && (await scope.read(ABOUT_CHAT, [chatId, pattern])).length > 0) return true;
  const messages = () => scope.table("messages").where({ chatId });
  const [last] = await messages().select("sequence").orderBy("sequence", "desc").limit(1);
  for (let from = after + 1; from <= (last?.sequence ?? 0); from += MESSAGES) {
    if (from > after + 1 && performance.now() > until) return from - 1; // at least some are searched
    const some = messages().whereBetween("sequence", [from, from + MESSAGES - 1]);
    const [found] = await some.select("id").where("content", "ilike", pattern).limit(1);
    if (found) return true;
  }
  return false;
}

/** Searches with the trigram index. @returns undefined if it takes longer than `ms` */
export async function searchByIndex<R extends FoundRow>(
  scope: Scope,
  { ofAll, ofAssistant }: SearchStatements<R>,
  page: { readonly order: Order; readonly take: number; readonly offset: number; readonly ms: number },
  pattern: string,
  { assistantId, ...values }: LogValues,
): Promise<R[] | undefined> {
  const { order, take, offset, ms } = page;
  const found = (assistantId == null ? ofAll : ofAssistant)[order].by(values);
  const assistant = assistantId == null ? [] : [assistantId];
  const all = [pattern, take, offset, ...assistant, ...found.values];
  return replicated(scope, (from) => from.readInTime(Math.ceil(ms), found.statement, all));
}

/**
 * Counts the logs that a search finds.
 * @param ms time limit
 * @returns undefined if counting takes longer
 */
export async function countFound(
  scope: Scope,
  search: string,
  { assistantId, ...values }: LogValues & { readonly status?: string },
  ms: number,
): Promise<number | undefined> {
  const assistant = assistantId == null ? [] : [assistantId];
  const counts = assistantId == null ? SEARCH_COUNTS.ofAll : SEARCH_COUNTS.ofAssistant;
  const { statement, values: more } = counts.by(values);
  const rows = await scope.readInTime(ms, statement, [containing(search), ...assistant, ...more]);
  return rows?.[0]!.count;
}

/** Whether a text contains a trigram, by which the index finds it: three characters in a row, counting an end of a word. */
const HAS_TRIGRAM = /[\p{L}\p{N}]{3}|[\p{L}\p{N}]{2}[^\p{L}\p{N}]|[^\p{L}\p{N}][\p{L}\p{N}]/u;

export const hasTrigram = (text: string): boolean => partsInJson(text).some((part) => HAS_TRIGRAM.test(part));
