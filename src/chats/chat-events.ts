import { Repeater } from "@graphql-yoga/subscription";
import type { Listener } from "../database/listener";
import type { Scope } from "../database/scope";
import { Chats, CHATS_CHANNEL, type ChatStatus } from "./chats";
import { Messages, type Message } from "./messages";

/** Something that happened in a chat. Its id resumes the stream behind it. */
export interface ChatEvent {
  readonly id: string;
  /** `conversation-updated` with the message, `status-changed` with the status. */
  readonly name: "conversation-updated" | "status-changed";
  readonly chatId: string;
  readonly message: Message | null;
  readonly status: ChatStatus;
}

/**
 * What happens in a chat from now on, or behind the event `after`, whichever server process stored it. A notification
 * only wakes the reader, who then reads everything behind what it has sent: none is lost when notifications are.
 * Ends with the chat.
 * @param fresh a new scope for each reading, as a stream outlives what one request may remember
 * @throws CHAT_NOT_FOUND
 */
export async function chatEvents(
  fresh: () => Scope,
  listener: Pick<Listener, "on" | "onRenewed">,
  { chatId, after }: { chatId: string; after?: string | null },
): Promise<Repeater<ChatEvent>> {
  let place = await beginning(fresh(), chatId, after);
  return new Repeater<ChatEvent>(async (push, stop) => {
    const bell = new Bell();
    const ring = () => bell.ring();
    const silence = [
      listener.on(CHATS_CHANNEL, (ids) => void (ids.chatId === chatId && ring())),
      listener.onRenewed(ring),
    ];
    let stopped = false;
    void stop.then(() => ((stopped = true), ring()));
    while (!stopped) {
      const { events, next, over } = await behind(fresh(), chatId, place).catch(() => nothing(place));
      for (const event of events) await push(event);
      if (over) stop();
      else await bell.rung();
      place = next;
    }
    silence.forEach((end) => end());
  });
}

/** While the database is away nothing is read; the listener rings when it is back. */
const nothing = (place: Place) => ({ events: [] as ChatEvent[], next: place, over: false });

interface Place {
  readonly sequence: number;
  readonly statusEventId: string;
}

async function beginning(scope: Scope, chatId: string, after: string | null | undefined): Promise<Place> {
  const { messageCount, statusEventId } = await scope.of(Chats).byId(chatId);
  if (after == null) return { sequence: messageCount, statusEventId };
  // Ids of messages and of status changes are made in order, so that either says where the reader had come to.
  const [seen] = (await scope
    .table("messages")
    .where({ chatId })
    .where("id", "<=", after)
    .max("sequence as sequence")) as {
    sequence: number | null;
  }[];
  return { sequence: seen?.sequence ?? 0, statusEventId: statusEventId <= after ? statusEventId : "" };
}

async function behind(scope: Scope, chatId: string, { sequence, statusEventId }: Place) {
  const messages = await scope.of(Messages).after(chatId, sequence);
  const chat = await scope.of(Chats).byId(chatId);
  const events: ChatEvent[] = messages.map((message) => ({
    id: message.id,
    name: "conversation-updated",
    chatId,
    message,
    status: chat.status,
  }));
  if (chat.statusEventId !== statusEventId)
    events.push({
      id: chat.statusEventId,
      name: "status-changed",
      chatId,
      message: null,
      status: chat.status,
    });
  const next = { sequence: messages.at(-1)?.sequence ?? sequence, statusEventId: chat.statusEventId };
  return { events, next, over: chat.status === "ended" };
}

/** Remembers that it was rung until somebody has waited for it. */
class Bell {
  private ringing = false;
  private wake: (() => void) | undefined;

  ring(): void {
    this.ringing = true;
    this.wake?.();
  }

  async rung(): Promise<void> {
    if (!this.ringing) await new Promise<void>((resolve) => (this.wake = resolve));
    this.ringing = false;
    this.wake = undefined;
  }
}
