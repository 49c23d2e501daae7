import { containing } from "../../platform/database/containing";
import { currentDate } from "../../platform/clock";
import { Assistants } from "../../assistants/assistants/assistants";
import { withLabel } from "../chats/chats";
import {
  checkCursor,
  connectionOf,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/connection";
import { FilteredStatement } from "../../platform/database/filtered-statement";
import type { RowsOf } from "../../platform/database/rows";
import { replicated } from "../../platform/database/replicated";
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
import { SEARCHABLE_TEXT, searchLogs, searchReading } from "./search-logs";

/** A log in the list of all logs of an organization. */
export interface LogEntry extends LogListItem {
  readonly assistantId: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly messageCount: number;
  /** Duration so far if the chat has not ended. */
  readonly durationSeconds: number;
}

export interface LogFilter extends Omit<LogConditions, "after"> {
  /** Part of the label or of a message; ignores case. */
  readonly search?: string | null;
}

/** Parameter: limit. */
const LIST = new FilteredStatement<EntryRow, keyof LogConditions>(
  LOG_CONDITIONS.desc,
  ({ db, table, $, narrowed }) => {
    const rows = narrowed(table("chats"))
      .select(...ENTRY_COLUMNS)
      .orderBy(byStart("desc"));
    return db.raw<never>(`${sqlOf(rows)} limit ?`, [$(1)]);
  },
);

const SEARCH = searchReading<EntryRow>(ENTRY_COLUMNS);

/** The logs of an organization, newest first, including those of deleted assistants. */
export class AllLogs {
  constructor(private readonly scope: Scope) {}

  /** @throws ASSISTANT_NOT_FOUND (deleted assistants are allowed) */
  async list(
    { first, after }: ConnectionQuery,
    { search, ...filter }: LogFilter,
  ): Promise<Connection<LogEntry>> {
    if (filter.assistantId != null) await this.scope.of(Assistants).byIdIncludingDeleted(filter.assistantId);
    await checkCursor(() => this.scope.table("chats"), after);
    const take = first ?? 20;
    const conditions = { ...filter, after };
    if (search) return this.found(search, conditions, take);
    const { statement, values } = LIST.by(valuesOf(conditions));
    const rows = await replicated(this.scope, (from) => from.read(statement, [take + 1, ...values]));
    return connectionOf(rows.map(toEntry), { first, after });
  }

  /** Ended chats that match a filter. @param until latest start, in the database's own format */
  ended(
    { search, assistantId, type, startedAfter, startedBefore }: LogFilter,
    until?: string,
  ): RowsOf<"chats"> {
    const rows = this.scope.table("chats").where({ status: "ended" });
    if (assistantId != null) rows.where({ assistantId });
    if (type != null) rows.where("channel", type);
    if (startedAfter != null) rows.where("startedAt", ">", startedAfter);
    if (startedBefore != null) rows.where("startedAt", "<", startedBefore);
    if (until !== undefined) rows.where("startedAt", "<=", until);
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

  /** If the search ended early, the page ends after the last log that was searched, and others may follow. */
  private async found(
    search: string,
    conditions: LogConditions,
    take: number,
  ): Promise<Connection<LogEntry>> {
    const query = { search, conditions, order: "desc", take: take + 1, offset: 0 } as const;
    const { rows, searchedUpTo } = await searchLogs(this.scope, query, SEARCH);
    const page = connectionOf(rows.map(toEntry), { first: take, after: conditions.after });
    if (searchedUpTo === undefined || page.pageInfo.hasNextPage) return page;
    return { ...page, pageInfo: { ...page.pageInfo, hasNextPage: true, endCursor: searchedUpTo } };
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
