import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import { Chats, labelOf, withLabel, type ChatRow } from "../chats/chats";
import { Messages, type Message } from "../chats/messages";
import { checkCursors } from "../../platform/database/lists/connection";
import { window, type PageQuery } from "../../platform/database/lists/page";
import { perId, readPerId } from "../../platform/database/lists/per-id";
import { inBothOrders } from "../../platform/database/lists/order";
import type { Scope } from "../../platform/database/scope";
import { withoutNulls } from "../../platform/database/values/without-nulls";
import { missing } from "../../platform/errors";
import { FAR_LISTS, FAR_LISTS_WALKED, FAR_OFFSET } from "./far-logs";
import { byStart, LOG_COLUMNS, LOG_CONDITIONS, valuesOf, type LogRow } from "./log-conditions";
import { searchLogs } from "./search-logs";
import { searchReading } from "./search-statements";

export interface LogListItem {
  readonly id: string;
  readonly type: Channel;
  readonly label: string;
  readonly createdAt: Date;
}

export interface Log {
  readonly id: string;
  readonly type: Channel;
  readonly recordingUrl: string;
  readonly messages: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
  readonly customerMetadata: Record<string, unknown>;
  readonly createdAt: Date;
}

export interface LogQuery extends PageQuery {
  readonly type?: Channel | null;
  readonly assistantVersion?: number | null;
  /** Part of the label or of a message; ignores case. */
  readonly search?: string | null;
  /** Id or cursor of the log after which the list begins, in its order. */
  readonly after?: string | null;
}

interface LogCriteria extends ReturnType<typeof window> {
  readonly type: Channel | null;
  readonly assistantVersion: number | null;
  readonly search: string | null;
  readonly after: string | null;
}

const LISTS = inBothOrders((order) => {
  const { type, assistantVersion, after } = LOG_CONDITIONS[order];
  return perId(
    ({ table, narrowed }) =>
      narrowed(table("chats").whereRaw("assistant_id = wanted.id"))
        .select(...LOG_COLUMNS)
        .orderBy(byStart(order)),
    { conditions: { type, assistantVersion, after } },
  );
});

const SEARCH = searchReading<LogRow>(LOG_COLUMNS);

/** Logs: the records of chats. A log has the id of its chat. */
export class Logs {
  constructor(private readonly scope: Scope) {}

  /** The logs of an assistant, by creation. Calls in the same tick with equal queries share one statement. */
  async ofAssistant(assistantId: string, query: LogQuery): Promise<LogListItem[]> {
    const { type = null, assistantVersion = null, search, after = null } = query;
    if (after !== null)
      await checkCursors(() => this.scope.table("chats"), { after }, { expected: "the id of a log" });
    const { order, page, take, offset } = window(query);
    const criteria = { order, page, take, offset, type, assistantVersion, search: search || null, after };
    const loader = this.scope.loader<LogListItem[]>(`logs.${JSON.stringify(criteria)}`, (ids) =>
      this.batch(ids, criteria),
    );
    return loader.load(assistantId);
  }

  /** Calls in the same tick share their statements. @throws LOG_NOT_FOUND, also for a log of another assistant */
  async byId(assistantId: string, id: string): Promise<Log> {
    const row = await this.scope.of(Chats).shared(id);
    if (row?.assistantId !== assistantId) return missing("Log", id);
    return toLog(row, await this.scope.of(Messages).shared(id));
  }

  /**
   * The log of a chat; null while the chat is live, or if the log was deleted. Calls in the same tick share their
   * statements.
   * @param withMessages whether to read the messages
   */
  async ofChat(id: string, withMessages: boolean): Promise<Log | null> {
    const row = await this.scope.of(Chats).shared(id);
    if (row?.status !== "ended") return null;
    return toLog(row, withMessages ? await this.scope.of(Messages).shared(id) : []);
  }

  private async batch(
    ids: readonly string[],
    { order, take, offset, type, assistantVersion, search, after }: LogCriteria,
  ): Promise<LogListItem[][]> {
    const conditions = { type, assistantVersion, after };
    if (search !== null) {
      const find = (assistantId: string) =>
        searchLogs(
          this.scope,
          { search, order, take, offset, conditions: { assistantId, ...conditions } },
          SEARCH,
        );
      const found = await Promise.all(ids.map(find));
      return found.map(({ rows }) => rows.map(toListItem));
    }
    const read =
      offset < FAR_OFFSET
        ? readPerId(this.scope, LISTS[order], ids, { take, offset }, valuesOf(conditions))
        : after === null && assistantVersion === null
          ? readPerId(this.scope, FAR_LISTS[order], ids, { take }, { type }, [take, offset, type])
          : readPerId(this.scope, FAR_LISTS_WALKED[order], ids, { take }, valuesOf(conditions), [
              take,
              offset,
            ]);
    const found = await read;
    return found.map((logs) => logs.map(toListItem));
  }
}

function toLog(row: ChatRow, messages: readonly Message[]): Log {
  const { id, channel: type, recordingUrl, startedAt: createdAt } = row;
  return {
    id,
    type,
    recordingUrl: recordingUrl ?? "",
    messages: { items: messages.map(toLogItem) },
    metadata: logMetadata(withLabel(row)),
    customerMetadata: customerMetadata(row),
    createdAt,
  };
}

/** A message in a log, with only the documented fields. */
const toLogItem = ({
  id,
  sequence,
  role,
  channel,
  content,
  metadata,
  toolCallId,
  toolCalls,
  createdAt,
}: Message) =>
  withoutNulls({ id, sequence, role, channel, content, metadata, toolCallId, toolCalls, createdAt });

/** Metadata supplied by the client, with the identity of the person. */
function customerMetadata(row: ChatRow): Record<string, unknown> {
  const { metadata, userName, userId, anonymousId, externalId } = row;
  // The uniqueId of a person who was called equals another id in this object.
  const uniqueId = row.phoneNumber === null ? row.uniqueId : null;
  return { ...metadata, ...withoutNulls({ userName, userId, anonymousId, externalId, uniqueId }) };
}

function toListItem(row: LogRow): LogListItem {
  const { id, channel: type, startedAt: createdAt } = row;
  return { id, type, label: labelOf(row), createdAt };
}

/** Spec gap: the log's `metadata` has the status, times and errors of the chat. */
function logMetadata({
  status,
  startedAt,
  endedAt,
  endedReason,
  phoneNumber,
  messageCount,
  errors,
}: ChatRow): Record<string, unknown> {
  const until = endedAt ?? currentDate();
  const durationSeconds = Math.max(0, Math.round((until.getTime() - startedAt.getTime()) / 1000));
  return withoutNulls({
    status,
    startedAt,
    endedAt,
    endedReason,
    durationSeconds,
    phoneNumber,
    messageCount,
    ...(errors.length > 0 && { errors }),
  });
}
