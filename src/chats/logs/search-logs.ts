import { containing } from "../../platform/database/containing";
import type { Order } from "../../platform/database/order";
import { replicated } from "../../platform/database/replicated";
import type { Scope } from "../../platform/database/scope";
import { valuesOf, type LogConditions } from "./log-conditions";
import { CHUNK, type FoundRow, type Next, type Rarest, type SearchStatements } from "./search-statements";

/** A search with its page. */
export interface LogSearch {
  readonly search: string;
  readonly conditions: LogConditions;
  readonly order: Order;
  readonly take: number;
  readonly offset: number;
  /** Whether the page is asked for from the end of the list, so that `before` continues it. */
  readonly isBackward?: boolean;
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

/** No further chats are scanned after this time, in ms; it begins again after a search with the index that took all its time. */
const SCAN_MS = 10;
/** Time for a search with the index, in ms, and in times of what the scan before it took if that is more, as on a busy machine. */
const INDEX_TIME = { least: 40, scans: 2 };
/** The same for a text of common words, for which the index reads almost everything; it is part of the time of the scan. */
const INDEX_TIME_OF_COMMON = { least: 4, scans: 0.5 };
/** In at least so many of the chats of the sample, a word is common. */
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

function tell(
  scope: Scope,
  { order, conditions, isBackward }: LogSearch,
  scanned: number,
  after: string,
): void {
  const place = conditions.assistantId == null ? "" : ` of the assistant ${conditions.assistantId}`;
  const part = `${order === "desc" ? "newest" : "oldest"} ${scanned} logs${place}`;
  const from = conditions.after == null ? "" : ` after ${conditions.after}`;
  scope.warn(
    `The search was limited to the ${part}${from}, because the text is too short or too common for the index. Continue with ${isBackward ? "before" : "after"}: "${after}".`,
  );
  scope.notes.continueAfter = after;
}
