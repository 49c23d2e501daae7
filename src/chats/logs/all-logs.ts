import { containing } from "../../platform/database/values/containing";
import { currentDate } from "../../platform/clock";
import { Assistants } from "../../assistants/assistants/assistants";
import { withLabel } from "../chats/chats";
import { countedChats } from "../chats/count-chats";
import {
  checkCursors,
  connectionOf,
  countOf,
  endingAt,
  spanOf,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { FilteredStatement } from "../../platform/database/lists/filtered-statement";
import { inBothOrders } from "../../platform/database/lists/order";
import type { RowsOf } from "../../platform/database/tables/rows";
import { invalid } from "../../platform/errors";
import { replicated } from "../../platform/database/lists/replicated";
import { ifCanceled } from "../../platform/database/run-query";
import type { Scope } from "../../platform/database/scope";
import { sqlOf } from "../../platform/database/statement";
import {
  byStart,
  ENTRY_COLUMNS,
  LOG_CONDITIONS,
  valuesOf,
  type EntryRow,
  type LogConditions,
} from "./log-conditions";
import type { LogListItem } from "./logs";
import { searchLogs } from "./search-logs";
import { SEARCHABLE_TEXT, searchReading } from "./search-statements";

/** A log in the list of all logs of an organization. */
export interface LogEntry extends LogListItem {
  readonly assistantId: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly messageCount: number;
  /** Duration so far if the chat has not ended. */
  readonly durationSeconds: number;
}

export interface LogFilter extends Omit<LogConditions, "after" | "before" | "until"> {
  /** Part of the label or of a message; ignores case. */
  readonly search?: string | null;
}

/** Time limit for counting what a search finds, in ms: the page and its number have 10 s together. */
const SEARCH_COUNT_MS = 5_000;

/** Parameter: limit. */
export const ENTRY_LISTS = inBothOrders(
  (order) =>
    new FilteredStatement<EntryRow, keyof LogConditions>(
      LOG_CONDITIONS[order],
      ({ db, table, $, narrowed }) => {
        const rows = narrowed(table("chats"))
          .select(...ENTRY_COLUMNS)
          .orderBy(byStart(order));
        return db.raw<never>(`${sqlOf(rows)} limit ?`, [$(1)]);
      },
    ),
);

export const ENTRY_SEARCH = searchReading<EntryRow>(ENTRY_COLUMNS);

/** The logs of an organization, including those of deleted assistants. */
export class AllLogs {
  constructor(private readonly scope: Scope) {}

  /** @throws ASSISTANT_NOT_FOUND (deleted assistants are allowed), BAD_USER_INPUT for a version of no assistant */
  async list(query: ConnectionQuery, { search, ...filter }: LogFilter): Promise<Connection<LogEntry>> {
    const { take, order, after, before } = spanOf(query);
    if (filter.assistantVersion != null && filter.assistantId == null)
      throw invalid([
        { path: "filter.assistantVersion", message: "must be sent with assistantId, whose version it is" },
      ]);
    if (filter.assistantId != null) await this.scope.of(Assistants).byIdIncludingDeleted(filter.assistantId);
    await checkCursors(() => this.scope.table("chats"), query);
    const conditions = { ...filter, after, before };
    const count = () => this.count({ search, ...filter });
    if (search) {
      const isBackward = query.last != null;
      const found = { search, conditions, order, take: take + 1, offset: 0, isBackward };
      const { rows, searchedUpTo } = await searchLogs(this.scope, found, ENTRY_SEARCH);
      return endingAt(searchedUpTo, connectionOf(rows.map(toEntry), query, count), query);
    }
    const { statement, values } = ENTRY_LISTS[order].by(valuesOf(conditions));
    const rows = await replicated(this.scope, (from) => from.read(statement, [take + 1, ...values]));
    return connectionOf(rows.map(toEntry), query, count);
  }

  /** @returns null with a warning for a search whose results take too long to count */
  private async count(filter: LogFilter): Promise<number | null> {
    const { type: channel, ...others } = filter;
    const known = await countedChats(this.scope, { channel, ...others });
    if (known !== undefined) return known;
    if (!filter.search) return countOf(this.matching(filter));
    const found = await this.countInTime(this.matching(filter), SEARCH_COUNT_MS);
    if (found !== undefined) return found;
    this.scope.warn(
      "totalCount is null, because counting the logs that the search finds took too long. Add a condition such as startedAfter, or search for a longer text.",
    );
    return null;
  }

  /** The number of ended chats that match a filter. @returns undefined if counting takes longer */
  countEnded(filter: LogFilter, timeoutMs: number): Promise<number | undefined> {
    return this.countInTime(this.matching(filter).where({ status: "ended" }), timeoutMs);
  }

  private countInTime(rows: RowsOf<"chats">, timeoutMs: number): Promise<number | undefined> {
    const { organizationId } = this.scope;
    return countOf(rows.queryContext({ organizationId, timeoutMs })).catch(ifCanceled);
  }

  private matching({ search, assistantId, type, assistantVersion, ...started }: LogFilter): RowsOf<"chats"> {
    const { startedAfter, startedBefore } = started;
    const rows = this.scope.table("chats");
    if (assistantId != null) rows.where({ assistantId });
    if (type != null) rows.where("channel", type);
    if (assistantVersion != null) rows.where({ assistantVersion });
    if (startedAfter != null) rows.where("startedAt", ">", startedAfter);
    if (startedBefore != null) rows.where("startedAt", "<", startedBefore);
    if (!search) return rows;
    const messages = this.scope
      .table("messages")
      .select("chatId")
      .where("content", "ilike", containing(search));
    const labels = this.scope
      .table("chats")
      .select("id")
      .whereRaw(`${SEARCHABLE_TEXT} ilike ?`, [containing(search)]);
    for (const found of [messages, labels]) if (assistantId != null) found.where({ assistantId });
    return rows.whereRaw("id in (? union ?)", [messages, labels]);
  }
}

function toEntry(row: EntryRow): LogEntry {
  const { id, channel: type, label, startedAt, endedAt, ...rest } = withLabel(row);
  const { assistantId, status, endedReason, messageCount } = rest;
  const durationSeconds = Math.max(
    0,
    Math.round(((endedAt ?? currentDate()).getTime() - startedAt.getTime()) / 1000),
  );
  return {
    id,
    type,
    label,
    createdAt: startedAt,
    assistantId,
    status,
    endedReason,
    messageCount,
    durationSeconds,
  };
}
