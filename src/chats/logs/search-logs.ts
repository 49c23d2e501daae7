import { containing } from "../../platform/database/values/containing";
import type { Continuation } from "../../platform/database/notes";
import { cursorAt, idIn, partIn } from "../../platform/database/lists/cursors";
import type { Order } from "../../platform/database/lists/order";
import { replicated } from "../../platform/database/lists/replicated";
import type { Scope } from "../../platform/database/scope";
import { valuesOf, type LogConditions } from "./log-conditions";
import { CHUNK, type FoundRow, type Rarest, type SearchStatements } from "./search-statements";
import { hasTrigram, scan, scanRest, searchByIndex, type Scanned } from "./search-steps";

/** A search with its page. */
export interface LogSearch {
  readonly search: string;
  readonly conditions: LogConditions;
  readonly order: Order;
  readonly take: number;
  readonly offset: number;
  /** Whether the client pages from the end of the list, so that `before` continues the search. */
  readonly isBackward?: boolean;
}

/** Logs of a page. `searchedUpTo` is the cursor of the last log that was searched, if the search ended early. */
export interface FoundLogs<R> {
  readonly rows: readonly R[];
  readonly searchedUpTo?: string;
}

/** Time limit of the scan, in ms. It starts anew after an index search of a rare text has used up its own time. */
const SCAN_MS = 10;
/** Time limit of one statement of the scan, in ms. A single conversation that takes longer is searched anew, in parts. */
const CHUNK_MS = 1_000;
/** Time limit of that search, in ms. The search of a conversation that takes longer ends within it. */
const ALONE_MS = 2_000;
/** Longest time limit of an index search, in ms. */
const MOST_INDEX_MS = 2_000;
/** Time limit of an index search: `least` in ms or, if longer, `scans` times the time of the scan before it, as on a busy machine. */
const INDEX_TIME = { least: 40, scans: 2 };
/** The same for a text of common words, for which the index reads almost everything. Counts towards the limit of the scan. */
const INDEX_TIME_OF_COMMON = { least: 4, scans: 0.5 };
/** A word is common if at least this many chats of the sample contain it. */
const LEAST_COMMON = 5;
/** Number of words that are looked for in the sample: the longest ones, which are usually the rarest. */
const MOST_WORDS = 5;

/** The words of a text that contain a trigram. */
const WORDS = /[\p{L}\p{N}]{3,}/gu;

/** @param message the last message that was searched, if others follow */
const cursorOf = ({ startedAt, id }: FoundRow, message?: number): string => cursorAt(startedAt, id, message);

/**
 * Finds the chats whose messages or label contain a text, by creation. First it scans the next few hundred chats, which
 * fill a page if the words are common. Then it asks the trigram index, which has few entries for a rare word. Neither way
 * alone is fast for all words. If neither finishes in time, the search ends early with a warning.
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
  const times = { ms: CHUNK_MS, aloneMs: ALONE_MS };
  const rest = await scanRest(scope, statements, { order, ...times }, pattern, conditions);
  if (rest && (rest.matches.length > 0 || rest.message !== undefined)) return ended(scope, query, rest);
  for (let scanned = 0; ;) {
    const isFirst = scanned === 0;
    const part = { order, most: offset + take - found.length, ...times };
    const next = await scan(scope, statements, part, pattern, valuesOf({ ...conditions, after }));
    found.push(...next.matches);
    const rows = found.slice(offset);
    if (next.last === undefined || found.length === offset + take) return { rows };
    const { last, message } = next;
    after = cursorOf(last);
    scanned += Math.max(next.searched, 1);
    if (isFirst && hasTrigram(search)) {
      const isShort = next.searched === CHUNK; // else reading a sample could take long, too
      const isCommon = isShort && (await isOfCommonWords(scope, query, statements.rarest[order]));
      const { least, scans } = isCommon ? INDEX_TIME_OF_COMMON : INDEX_TIME;
      const ms = Math.max(least, scans * (performance.now() - startedAt));
      const page = { order, take, offset, ms: Math.min(ms, MOST_INDEX_MS) };
      const complete = await searchByIndex(scope, statements, page, pattern, valuesOf(conditions));
      if (complete) return { rows: complete };
      if (!isCommon) scanUntil = performance.now() + SCAN_MS;
    }
    if (message !== undefined || performance.now() >= scanUntil)
      return ended(scope, query, { matches: found, last, message, searched: scanned });
  }
}

/** The logs of a search that ends early, with a warning. @param part what was searched, and where it ended */
function ended<R extends FoundRow>(
  scope: Scope,
  query: LogSearch,
  { matches, last, message, searched }: Scanned<R> & { readonly last: R },
): FoundLogs<R> {
  const rows = matches.slice(query.offset);
  if (rows.length === query.take) return { rows };
  const searchedUpTo = cursorOf(last, message);
  if (message !== undefined)
    scope.warn(`The messages of the log ${last.id} were searched only up to number ${message}: it is long.`);
  warnOfLimit(scope, query, Math.max(searched, 1), restOf(query, matches, searchedUpTo));
  return { rows, searchedUpTo };
}

/** Whether a text has several words and each of them is common. A single common word needs no check: the first scan finds it. */
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

/**
 * The request that continues a limited search. Its pages are counted from `after`. If the search has not reached the wanted
 * page, the request skips the matches that the pages before it still lack.
 * @param last cursor of the last log that was searched
 */
function restOf({ take, offset }: LogSearch, found: readonly FoundRow[], last: string): Continuation {
  const left = offset - found.length;
  if (left <= 0) return { after: last, page: 1, take };
  const whole = found.length - (found.length % take);
  if (whole > 0) return { after: cursorOf(found[whole - 1]!), page: (offset - whole) / take + 1, take };
  let size = take; // less than a page was found: only other pages can begin there
  while (left % size !== 0) size--;
  return { after: last, page: left / size + 1, take: size };
}

/** The place where a search begins, in words. */
function placeOf(after: string): string {
  const message = partIn(after);
  return message === undefined
    ? ` after ${idIn(after)}`
    : ` from message ${message + 1} of ${idIn(after)} on`;
}

function warnOfLimit(
  scope: Scope,
  { order, conditions, take, isBackward }: LogSearch,
  scanned: number,
  next: Continuation,
): void {
  const place = conditions.assistantId == null ? "" : ` of the assistant ${conditions.assistantId}`;
  const logs = scanned === 1 ? "log" : `${scanned} logs`;
  const part = `${order === "desc" ? "newest" : "oldest"} ${logs}${place}`;
  const from = conditions.after == null ? "" : placeOf(conditions.after);
  const page =
    (next.page > 1 ? `, page: ${next.page}` : "") + (next.take === take ? "" : `, take: ${next.take}`);
  scope.warn(
    `The search was limited to the ${part}${from}, because the text is too short or too common for the index. Continue with ${isBackward ? "before" : "after"}: "${next.after}"${page}.`,
  );
  scope.notes.continuation = next;
}
