import { groupBy } from "../../platform/group-by";
import { Attached } from "../../platform/attached";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import type { StreamPosition } from "./chat-positions";

/** A stream of a chat's events. */
interface Stream {
  readonly chatId: string;
  readonly fresh: () => Scope;
  /** The position up to which the stream was read. */
  readonly position: () => StreamPosition;
  /** Called if the chat has changed since. */
  readonly wake: () => void;
}

/** Interval of looking for changes, because notifications can be lost. */
const INTERVAL_MS = 1_000;

const POSITIONS = statement<{ id: string; messageCount: number; statusEventId: string }>(({ table, $, db }) =>
  table("chats")
    .select("id", "messageCount", "statusEventId")
    .where("id", db.raw("any(?::text[])", [$(1)])),
);

const watches = new Attached<ChatWatch>();

/** Looks for changes of the chats that this process streams, by one statement a second per organization. */
class ChatWatch {
  private readonly streams = new Set<Stream>();
  private timer: NodeJS.Timeout | undefined;
  private isLooking = false;

  add(stream: Stream): () => void {
    this.streams.add(stream);
    this.timer ??= setInterval(() => void this.look(), INTERVAL_MS).unref();
    return () => {
      this.streams.delete(stream);
      if (this.streams.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  private async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    const byOrganization = groupBy(this.streams, (stream) => stream.fresh().organizationId);
    // Fails if the database is unreachable; the next look finds what has changed.
    const looks = [...byOrganization.values()].map((streams) => lookAt(streams).catch(() => undefined));
    await Promise.all(looks);
    this.isLooking = false;
  }
}

/** Wakes the streams whose chats have changed. */
async function lookAt(streams: readonly Stream[]): Promise<void> {
  const ids = [...new Set(streams.map(({ chatId }) => chatId))];
  const rows = await streams[0]!.fresh().unlimited().read(POSITIONS, [ids]);
  const chats = new Map(rows.map((row) => [row.id, row]));
  for (const { chatId, position, wake } of streams) {
    const chat = chats.get(chatId);
    const { sequence, statusEventId } = position();
    if (chat && (chat.messageCount > sequence || chat.statusEventId !== statusEventId)) wake();
  }
}

/**
 * Wakes a stream within a second after its chat has changed, if no notification does.
 * @param listener of the process that streams
 * @returns a function that ends the watch
 */
export function watchChat(listener: object, stream: Stream): () => void {
  let watch = watches.get(listener);
  if (!watch) watches.set(listener, (watch = new ChatWatch()));
  return watch.add(stream);
}
