import { containing } from "../../platform/database/containing";
import type { Order } from "../../platform/database/order";
import { replicated } from "../../platform/database/replicated";
import type { Scope } from "../../platform/database/scope";
import { valuesOf, type LogConditions } from "./log-conditions";
import { CHUNK, type FoundRow, type Rarest, type SearchStatements } from "./search-statements";
import { hasTrigram, indexed, scan } from "./search-steps";

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

/** No further chats are scanned after this time, in ms; it begins again after a search with the index that took all its time. */
const SCAN_MS = 10;
/** Time for a part of the scan, in ms: long conversations take it, and one that alone takes longer is searched in part. */
const CHUNK_MS = 1_000;
/** Time for a search with the index, in ms, and in times of what the scan before it took if that is more, as on a busy machine. */
const INDEX_TIME = { least: 40, scans: 2 };
/** The same for a text of common words, for which the index reads almost everything; it is part of the time of the scan. */
const INDEX_TIME_OF_COMMON = { least: 4, scans: 0.5 };
/** In at least so many of the chats of the sample, a word is common. */
const LEAST_COMMON = 5;
/** Words that are counted: the longest ones, which are the rarest as a rule. */
const MOST_WORDS = 5;

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
  for (let scanned = 0; ;) {
    const isFirst = scanned === 0;
    const part = { order, most: offset + take - found.length, ms: CHUNK_MS };
    const next = await scan(scope, statements, part, pattern, valuesOf({ ...conditions, after }));
    found.push(...next.matches);
    const rows = found.slice(offset);
    if (next.last === undefined) return { rows };
    after = next.last.id;
    scanned += Math.max(next.searched, 1);
    if (isFirst && hasTrigram(search)) {
      const isShort = next.searched === CHUNK; // else reading a sample could take long, too
      const isCommon = isShort && (await isOfCommonWords(scope, query, statements.rarest[order]));
      const { least, scans } = isCommon ? INDEX_TIME_OF_COMMON : INDEX_TIME;
      const ms = Math.max(least, scans * (performance.now() - startedAt));
      const page = { order, take, offset, ms };
      const complete = await indexed(scope, statements, page, pattern, valuesOf(conditions));
      if (complete) return { rows: complete };
      if (!isCommon) scanUntil = performance.now() + SCAN_MS;
    }
    if (performance.now() < scanUntil) continue;
    tell(scope, query, scanned, after);
    return { rows, searchedUpTo: after };
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

function tell(
  scope: Scope,
  { order, conditions, isBackward }: LogSearch,
  scanned: number,
  after: string,
): void {
  const place = conditions.assistantId == null ? "" : ` of the assistant ${conditions.assistantId}`;
  const logs = scanned === 1 ? "log" : `${scanned} logs`;
  const part = `${order === "desc" ? "newest" : "oldest"} ${logs}${place}`;
  const from = conditions.after == null ? "" : ` after ${conditions.after}`;
  scope.warn(
    `The search was limited to the ${part}${from}, because the text is too short or too common for the index. Continue with ${isBackward ? "before" : "after"}: "${after}".`,
  );
  scope.notes.continueAfter = after;
}
