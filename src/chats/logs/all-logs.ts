import { currentDate } from "../../platform/clock";
import { Assistants } from "../../assistants/assistants/assistants";
import { withLabel, type ChatRow } from "../chats/chats";
import { connectionOf, type Connection, type ConnectionQuery } from "../../platform/database/connection";
import { byAge, timeOf } from "../../platform/database/order";
import type { RowsOf } from "../../platform/database/rows";
import type { Scope } from "../../platform/database/scope";
import type { LogListItem } from "./logs";
import { SEARCHABLE_TEXT, NEAR_CHATS } from "./search-logs";

/** A log in the list of all logs of an organization. */
export interface LogEntry extends LogListItem {
  readonly assistantId: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly messageCount: number;
  /** Duration so far if the chat has not ended. */
  readonly durationSeconds: number;
}

export interface LogFilter {
  readonly assistantId?: string | null;
  readonly type?: string | null;
  /** Part of the label or of a message; ignores case. */
  readonly search?: string | null;
  readonly startedAfter?: Date | null;
  readonly startedBefore?: Date | null;
}

const COLUMNS = [
  "id",
  "assistantId",
  "channel",
  "status",
  "label",
  "phoneNumber",
  "firstWords",
  "startedAt",
  "endedAt",
  "endedReason",
  "messageCount",
] as const;

type Row = Pick<ChatRow, (typeof COLUMNS)[number]>;

/** The logs of an organization, newest first, including those of deleted assistants. */
export class AllLogs {
  constructor(private readonly scope: Scope) {}

  /** @throws ASSISTANT_NOT_FOUND (deleted assistants are allowed) */
  async list(query: ConnectionQuery, filter: LogFilter): Promise<Connection<LogEntry>> {
    if (filter.assistantId != null) await this.scope.of(Assistants).byIdIncludingDeleted(filter.assistantId);
    const take = query.first ?? 20;
    const matching = () => this.matching(query, filter);
    const list = (rows: RowsOf<"chats">) =>
      rows
        .select(...COLUMNS)
        .orderBy(byAge("desc", "startedAt"))
        .limit(take + 1);
    if (!filter.search) return connectionOf((await list(matching())).map(toEntry), take);
    // Like `searchLogs`: scans recent chats for common words, then uses the index for rare ones.
    const near = await list(this.near(matching, filter.search, NEAR_CHATS + 10 * take));
    const found = near.length > take ? near : await list(this.indexed(matching(), filter));
    return connectionOf(found.map(toEntry), take);
  }

  /** Ended chats that match a filter. @param until latest start, in the database's own format */
  ended(filter: LogFilter, until?: string): RowsOf<"chats"> {
    const rows = this.matching({}, filter).where({ status: "ended" });
    if (until !== undefined) rows.where("startedAt", "<=", until);
    return filter.search ? this.indexed(rows, filter) : rows;
  }

  private matching({ after }: ConnectionQuery, filter: LogFilter): RowsOf<"chats"> {
    const { assistantId, type, startedAfter, startedBefore } = filter;
    const rows = this.scope.table("chats");
    if (after != null) {
      const last = this.scope.table("chats").select("startedAt").where({ id: after });
      rows.whereRaw("(started_at, id) < (coalesce((?), ?), ?)", [last, timeOf(after), after]);
    }
    if (assistantId != null) rows.where({ assistantId });
    if (type != null) rows.where("channel", type);
    if (startedAfter != null) rows.where("startedAt", ">=", startedAfter);
    if (startedBefore != null) rows.where("startedAt", "<", startedBefore);
    return rows;
  }

  private near(matching: () => RowsOf<"chats">, search: string, limit: number): RowsOf<"chats"> {
    const messages = this.scope
      .table("messages")
      .whereRaw("messages.chat_id = chats.id")
      .where("content", "ilike", patternOf(search));
    const next = matching().select("id").orderBy(byAge("desc", "startedAt")).limit(limit);
    return this.scope
      .table("chats")
      .whereIn("id", next)
      .where((either) =>
        either.whereRaw(`${SEARCHABLE_TEXT} ilike ?`, [patternOf(search)]).orWhereExists(messages),
      );
  }

  private indexed(rows: RowsOf<"chats">, { search, assistantId }: LogFilter): RowsOf<"chats"> {
    const pattern = patternOf(search!); // callers check that there is one
    const messages = this.scope.table("messages").select("chatId").where("content", "ilike", pattern);
    const byLabel = this.scope.table("chats").select("id").whereRaw(`${SEARCHABLE_TEXT} ilike ?`, [pattern]);
    for (const found of [messages, byLabel]) if (assistantId != null) found.where({ assistantId });
    return rows.whereRaw("id in (? union ?)", [messages, byLabel]);
  }
}

const patternOf = (search: string) => `%${search.replace(/[\\%_]/g, "\\$&")}%`;

function toEntry(row: Row): LogEntry {
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
