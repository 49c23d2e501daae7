import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import { labelled, type ChatRow } from "../chats/chats";
import { Messages, type Message } from "../chats/messages";
import { window, type PageQuery } from "../../platform/database/page";
import { perId, readPerId } from "../../platform/database/per-id";
import { byAge, inBothOrders } from "../../platform/database/order";
import type { Scope } from "../../platform/database/scope";
import { withoutNulls } from "../../platform/database/without-nulls";
import { missing } from "../../platform/errors";
import { LISTED, searchLogs, type Listed } from "./search-logs";

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
  /** Part of the label or of what was said, in any case. */
  readonly search?: string | null;
}

interface Asked extends ReturnType<typeof window> {
  readonly type: Channel | null;
  readonly search: string | null;
}

const LISTS = inBothOrders((order) =>
  perId<Listed, "type">(
    ({ table, narrowed }) =>
      narrowed(table("chats").whereRaw("assistant_id = wanted.id"))
        .select(LISTED)
        .orderBy(byAge(order, "startedAt")),
    { conditions: { type: (rows, value) => rows.where("channel", value) } },
  ),
);

/** What is kept of each chat. A log's id is its chat's id. */
export class Logs {
  constructor(private readonly scope: Scope) {}

  /** The logs of an assistant, by creation. Lists of many assistants with the same query are read by one statement. */
  ofAssistant(assistantId: string, query: LogQuery): Promise<LogListItem[]> {
    const asked = { ...window(query), type: query.type ?? null, search: query.search || null };
    const loader = this.scope.loader<LogListItem[]>(`logs.${JSON.stringify(asked)}`, (ids) =>
      this.batch(ids, asked),
    );
    return loader.load(assistantId);
  }

  /** @throws LOG_NOT_FOUND, also when the log is another assistant's */
  async byId(assistantId: string, id: string): Promise<Log> {
    const [row] = await this.scope.table("chats").where({ id, assistantId });
    if (!row) return missing("Log");
    const items = await this.scope.of(Messages).all(id);
    const { channel: type, recordingUrl, startedAt: createdAt } = row;
    return {
      id,
      type,
      recordingUrl: recordingUrl ?? "",
      messages: { items: items.map(itemOf) },
      metadata: about(labelled(row)),
      customerMetadata: customerMetadata(row),
      createdAt,
    };
  }

  private async batch(
    ids: readonly string[],
    { order, take, offset, type, search }: Asked,
  ): Promise<LogListItem[][]> {
    if (search !== null) {
      const found = await searchLogs(this.scope, ids, { order, take, offset, type, search });
      return found.map((logs) => logs.map(listed));
    }
    const found = await readPerId(this.scope, LISTS[order], ids, { take, offset }, { type });
    return found.map((logs) => logs.map(listed));
  }
}

/** A message as a log's item: only these fields, whatever else is stored with it. */
const itemOf = ({
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

/** What the customer passed, with who the chat is with. */
function customerMetadata(row: ChatRow): Record<string, unknown> {
  const { metadata, userName, userId, anonymousId, externalId } = row;
  // Who is called is remembered under an id that stands here already.
  const uniqueId = row.phoneNumber === null ? row.uniqueId : null;
  return { ...metadata, ...withoutNulls({ userName, userId, anonymousId, externalId, uniqueId }) };
}

function listed(row: Listed): LogListItem {
  const { id, channel: type, label, startedAt: createdAt } = labelled(row);
  return { id, type, label, createdAt };
}

/** Spec gap: the log's `metadata` says how the chat went. */
function about({
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
