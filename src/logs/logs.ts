import type { Channel } from "../catalog/load-catalog";
import { labelled, type Chat, type ChatRow } from "../chats/chats";
import { Messages } from "../chats/messages";
import { window, type PageQuery } from "../database/page";
import { perId } from "../database/per-id";
import type { Build, Scope } from "../database/scope";
import { missing } from "../errors";

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

interface Listed extends Pick<Chat, "id" | "channel" | "phoneNumber" | "startedAt"> {
  readonly label: string | null;
  readonly firstWords: string | null;
}
interface Asked extends ReturnType<typeof window> {
  readonly type: Channel | null;
  readonly search: string | null;
}

const LISTED = ["id", "channel", "label", "phoneNumber", "firstWords", "startedAt"];

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
    const [row] = (await this.scope.table("chats").where({ id, assistantId })) as ChatRow[];
    if (!row) return missing("Log");
    const items = await this.scope.of(Messages).all(id);
    const { channel: type, recordingUrl, startedAt: createdAt } = row;
    return {
      id,
      type,
      recordingUrl: recordingUrl ?? "",
      messages: { items: items.map(({ chatId: _, ...item }) => withoutNulls(item)) },
      metadata: about(labelled(row)),
      customerMetadata: { ...row.metadata, ...withoutNulls({ userId: row.userId, uniqueId: row.uniqueId }) },
      createdAt,
    };
  }

  private async batch(
    ids: readonly string[],
    { order, take, offset, type, search }: Asked,
  ): Promise<LogListItem[][]> {
    const like = search && `%${search.replace(/[\\%_]/g, "\\$&")}%`;
    const values = [...(type ? [type] : []), ...(like ? [like] : [])];
    const rows: Build = (table, $) => {
      const own = table("chats").select(LISTED).whereRaw("assistant_id = wanted.id").orderBy("id", order);
      if (type) own.where("channel", $(1));
      if (!like) return own;
      const pattern = $(values.length);
      const said = table("messages").whereRaw("chat_id = chats.id").where("content", "ilike", pattern);
      return own.where((either) =>
        either.whereRaw("coalesce(label, phone_number, first_words) ilike ?", [pattern]).orWhereExists(said),
      );
    };
    // Never a named statement for a text search: its generic plan would walk everything.
    const key = like ? undefined : `logs.${order}.${type}`;
    const found = await perId<Listed>(this.scope, key, ids, rows, values, { take, offset });
    return found.map((logs) => logs.map(listed));
  }
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
  const until = endedAt ?? new Date();
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

const withoutNulls = (record: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== undefined));
