import { containing } from "../../platform/database/values/containing";
import { replicated } from "../../platform/database/lists/replicated";
import type { Scope } from "../../platform/database/scope";
import { ENTRY_LISTS, ENTRY_SEARCH, type LogFilter } from "./all-logs";
import type { EntryRow } from "./log-conditions";
import { CHUNK } from "./search-statements";
import { hasTrigram, scan, searchByIndex, type LogValues } from "./search-steps";

/** The place at which a walk continues: the start of a log, in ISO 8601, and its id. The log may be deleted. */
export type LogPlace = readonly [startedAt: string, id: string];

/** Some logs that match a filter, including live ones. `end` is where the search stopped; absent after the last part. */
export interface LogPart {
  readonly ids: readonly string[];
  readonly end?: LogPlace;
}

/** Time for a search with the index, in ms. If it takes longer, the logs are scanned instead. */
const INDEX_MS = 2_000;
/** Time after which a scan ends by itself, in ms: a statement may take 5 s. */
const SCAN_MS = 3_000;

/**
 * Walks the logs that match a filter, oldest first. Each part takes a statement of bounded time, however many logs there
 * are and even if no index serves the search.
 */
export class LogWalk {
  private isIndexed: boolean;

  /** @param until latest start, in the database's own format */
  constructor(
    private readonly scope: Scope,
    private readonly filter: LogFilter,
    private readonly until: string,
  ) {
    this.isIndexed = hasTrigram(filter.search ?? "");
  }

  /** @param after `end` of the previous part; default: the beginning */
  async next(after?: LogPlace): Promise<LogPart> {
    const { scope, until } = this;
    const { search, ...conditions } = this.filter;
    const values: LogValues = { ...conditions, until, after };
    if (!search) return pageOf(await this.list(values));
    const pattern = containing(search);
    if (this.isIndexed) {
      const page = { order: "asc", take: CHUNK, offset: 0, ms: INDEX_MS } as const;
      const rows = await searchByIndex(scope, ENTRY_SEARCH, page, pattern, values);
      if (rows) return pageOf(rows);
      this.isIndexed = false;
    }
    // The end follows a part that is not full.
    const part = { order: "asc", most: CHUNK + 1, ms: SCAN_MS, aloneMs: Infinity } as const;
    const { matches, last } = await scan(scope, ENTRY_SEARCH, part, pattern, values);
    return { ids: matches.map(({ id }) => id), ...(last && { end: placeOf(last) }) };
  }

  private async list(conditions: LogValues): Promise<EntryRow[]> {
    const { statement, values } = ENTRY_LISTS.asc.by(conditions);
    return replicated(this.scope, (from) => from.read(statement, [CHUNK, ...values]));
  }
}

/** A page of matches. If it is full, there may be more. */
const pageOf = (rows: readonly EntryRow[]): LogPart => ({
  ids: rows.map(({ id }) => id),
  ...(rows.length === CHUNK && { end: placeOf(rows.at(-1)!) }),
});

/** Rounds down to milliseconds, so logs of the same millisecond may be found again, but none is skipped. */
const placeOf = ({ startedAt, id }: EntryRow): LogPlace => [startedAt.toISOString(), id];
