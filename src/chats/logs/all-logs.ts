import { currentDate } from "../../platform/clock";
import { Assistants } from "../../assistants/assistants/assistants";
import { withLabel } from "../chats/chats";
import { countedChats } from "../chats/count-chats";
import {
  checkCursors,
  connectionBy,
  countOf,
  endingAt,
  spanOf,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { byTime } from "../../platform/database/lists/cursors";
import { FilteredStatement } from "../../platform/database/lists/filtered-statement";
import { inBothOrders } from "../../platform/database/lists/order";
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
import { searchReading } from "./search-statements";
import { countFound } from "./search-steps";

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
      return endingAt(
        searchedUpTo,
        connectionBy(rows.map(toEntry), query, byTime("createdAt"), count),
        query,
      );
    }
    const { statement, values } = ENTRY_LISTS[order].by(valuesOf(conditions));
    const rows = await replicated(this.scope, (from) => from.read(statement, [take + 1, ...values]));
    return connectionBy(rows.map(toEntry), query, byTime("createdAt"), count);
  }

  /** @returns null with a warning for a search whose results take too long to count */
  private async count({ search, ...conditions }: LogFilter): Promise<number | null> {
    if (!search) {
      const { type: channel, ...others } = conditions;
      return (await countedChats(this.scope, { channel, ...others })) ?? countOf(this.matching(conditions));
    }
    const found = await countFound(this.scope, search, valuesOf(conditions), SEARCH_COUNT_MS);
    if (found !== undefined) return found;
    this.scope.warn(
      "totalCount is null, because counting the logs that the search finds took too long. Add a condition such as startedAfter, or search for a longer text.",
    );
    return null;
  }

  /** The number of ended chats that match a filter. @returns undefined if counting takes longer */
  countEnded({ search, ...conditions }: LogFilter, timeoutMs: number): Promise<number | undefined> {
    const { scope } = this;
    const ended = { status: "ended" };
    if (search) return countFound(scope, search, { ...valuesOf(conditions), ...ended }, timeoutMs);
    const rows = this.matching(conditions).where(ended);
    return countOf(rows.queryContext({ organizationId: scope.organizationId, timeoutMs })).catch(ifCanceled);
  }

  private matching({ assistantId, type, assistantVersion, startedAfter, startedBefore }: LogConditions) {
    const rows = this.scope.table("chats");
    if (assistantId != null) rows.where({ assistantId });
    if (type != null) rows.where("channel", type);
    if (assistantVersion != null) rows.where({ assistantVersion });
    if (startedAfter != null) rows.where("startedAt", ">", startedAfter);
    if (startedBefore != null) rows.where("startedAt", "<", startedBefore);
    return rows;
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
