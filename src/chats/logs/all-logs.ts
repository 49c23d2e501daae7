import { currentDate } from "../../platform/clock";
import { Assistants } from "../../assistants/assistants/assistants";
import { labelled, type ChatRow } from "../chats/chats";
import { connectionOf, type Connection, type ConnectionQuery } from "../../platform/database/connection";
import { byAge, timeOf } from "../../platform/database/order";
import type { RowsOf } from "../../platform/database/rows";
import type { Scope } from "../../platform/database/scope";
import type { LogListItem } from "./logs";
import { ABOUT, NEAR } from "./search-logs";

/** A log in the list of all logs of an organization. */
export interface LogEntry extends LogListItem {
  readonly assistantId: string;
  readonly status: string;
  readonly endedReason: string | null;
  readonly messageCount: number;
  /** Until now where the chat has not ended. */
  readonly durationSeconds: number;
}

export interface LogFilter {
  readonly assistantId?: string | null;
  readonly type?: string | null;
  /** Part of the label or of what was said, in any case. */
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

/** The logs of an organization, the newest first; those of deleted assistants too. */
export class AllLogs {
  constructor(private readonly scope: Scope) {}

  /** @throws ASSISTANT_NOT_FOUND, but not for one that was deleted */
  async list(query: ConnectionQuery, filter: LogFilter): Promise<Connection<LogEntry>> {
    if (filter.assistantId != null) await this.scope.of(Assistants).evenDeleted(filter.assistantId);
    const take = query.first ?? 20;
    const wanted = () => this.matching(query, filter);
    const listed = (rows: RowsOf<"chats">) =>
      rows
        .select(...COLUMNS)
        .orderBy(byAge("desc", "startedAt"))
        .limit(take + 1);
    if (!filter.search) return connectionOf((await listed(wanted())).map(entryOf), take);
    // As where one assistant's logs are searched: a common word is near, of a rare one the index knows the places.
    const near = await listed(this.near(wanted, filter.search, NEAR + 10 * take));
    const found = near.length > take ? near : await listed(this.indexed(wanted(), filter));
    return connectionOf(found.map(entryOf), take);
  }

  /** Ended ones that a filter wants, and that began by a moment in the database's own form. */
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

  private near(wanted: () => RowsOf<"chats">, search: string, most: number): RowsOf<"chats"> {
    const said = this.scope
      .table("messages")
      .whereRaw("messages.chat_id = chats.id")
      .where("content", "ilike", patternOf(search));
    const next = wanted().select("id").orderBy(byAge("desc", "startedAt")).limit(most);
    return this.scope
      .table("chats")
      .whereIn("id", next)
      .where((either) => either.whereRaw(`${ABOUT} ilike ?`, [patternOf(search)]).orWhereExists(said));
  }

  private indexed(rows: RowsOf<"chats">, { search, assistantId }: LogFilter): RowsOf<"chats"> {
    const pattern = patternOf(search!); // asked for only where there is one
    const said = this.scope.table("messages").select("chatId").where("content", "ilike", pattern);
    const labelled = this.scope.table("chats").select("id").whereRaw(`${ABOUT} ilike ?`, [pattern]);
    for (const found of [said, labelled]) if (assistantId != null) found.where({ assistantId });
    return rows.whereRaw("id in (? union ?)", [said, labelled]);
  }
}

const patternOf = (search: string) => `%${search.replace(/[\\%_]/g, "\\$&")}%`;

function entryOf(row: Row): LogEntry {
  const { id, channel: type, label, startedAt, endedAt, ...rest } = labelled(row);
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
