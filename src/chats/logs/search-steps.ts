import type { Filter } from "../../platform/database/lists/filtered-statement";
import type { Order } from "../../platform/database/lists/order";
import { replicated } from "../../platform/database/lists/replicated";
import type { Scope } from "../../platform/database/scope";
import { containing } from "../../platform/database/values/containing";
import type { LogConditions } from "./log-conditions";
import { CHUNK, SEARCH_COUNTS, type FoundRow, type SearchStatements } from "./search-statements";

/** Values of conditions on logs, with bounds as `boundsOf` makes them. */
export type LogValues = Filter<keyof LogConditions>;

/** The matches in the next chats. */
export interface Scanned<R> {
  readonly matches: readonly R[];
  /** The last chat that was searched; absent if the page is full or the list has ended. */
  readonly last?: R;
  /** Number of chats that were searched; 0 if time ran out within the first one, `last`. */
  readonly searched: number;
}

/** Searches the next chats. @param ms time limit; at least one chat counts as passed, even if its search was cut short */
export async function scan<R extends FoundRow>(
  scope: Scope,
  statements: SearchStatements<R>,
  part: { readonly order: Order; readonly most: number; readonly ms: number },
  pattern: string,
  values: LogValues,
): Promise<Scanned<R>> {
  const { order, most, ms } = part;
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
  return { matches, last: chats[Math.max(searched - 1, 0)]!, searched };
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

export const hasTrigram = (text: string): boolean => HAS_TRIGRAM.test(text);
