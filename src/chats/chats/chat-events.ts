import { Repeater } from "@graphql-yoga/subscription";
import type { Listener } from "../../platform/database/listener";
import type { Scope } from "../../platform/database/scope";
import { newId } from "../../platform/database/ids";
import { CHATS_CHANNEL, EVENTS_CHANNEL } from "../../events/events/record";
import { Bell } from "./bell";
import { Chats, TOKENS_CHANNEL, type Chat, type ChatStatus } from "./chats";
import { Messages, type Message } from "./messages";

/** Something that happened in a chat. Its id resumes the stream behind it. */
export interface ChatEvent {
  readonly id: string;
  /**
   * `conversation-updated` with the message, `status-changed` with the status, `token` with a piece of an answer,
   * `token-reset` when the answer begins anew.
   */
  readonly name: "conversation-updated" | "status-changed" | "token" | "token-reset" | "activity";
  readonly chatId: string;
  readonly message: Message | null;
  readonly status: ChatStatus;
  readonly text: string | null;
  /** What the assistant does: `thinking`, `speaking`, `listening`, or the name of a function that it calls. */
  readonly activity: string | null;
}

/** Which chat is followed, and how. */
export interface Followed {
  readonly chatId: string;
  /** Id of the last event that was seen. */
  readonly after?: string | null;
  /** Whether what the assistant does is told too. */
  readonly withActivity?: boolean;
  /** Told once when the reader is so slow that the queue of passing events is full; the stream ends then. */
  readonly tooSlow?: () => void;
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
  { chatId, after, withActivity = false, tooSlow = () => undefined }: Followed,
): Promise<Repeater<ChatEvent>> {
  let place = await beginning(fresh(), chatId, after);
  return new Repeater<ChatEvent>(async (push, stop) => {
    let stopped = false;
    const bell = new Bell();
    const ring = () => bell.ring();
    const give = async (event: ChatEvent) => {
      if (stopped || !(await pushed(push, event))) return;
      tooSlow();
      stop();
    };
    const answer = { isShown: false };
    const tell = (passed: Partial<ChatEvent> & { name: string }) => void give(passing(chatId, passed));
    const silence = hearPassing(listener, { chatId, withActivity }, answer, { ring, tell });
    void stop.then(() => ((stopped = true), ring()));
    while (!stopped) {
      const { events, next, over } = await behind(fresh(), chatId, place).catch(() => {
        setTimeout(ring, READ_AGAIN).unref();
        return nothing(place);
      });
      for (const event of events) {
        if (event.message?.role === "ASSISTANT") answer.isShown = false;
        await give(event);
      }
      if (over) stop();
      else await bell.rung();
      place = next;
    }
    silence.forEach((end) => end());
  });
}

interface Hearing {
  /** Something was stored. */
  readonly ring: () => void;
  /** Something passed that is stored nowhere. */
  readonly tell: (event: Partial<ChatEvent> & { name: string }) => void;
}

/**
 * Hears what happens in a chat.
 * @param answer whether part of an answer that is not stored yet has been shown
 * @returns what ends that
 */
function hearPassing(
  listener: Pick<Listener, "on" | "onRenewed">,
  { chatId, withActivity }: Pick<Followed, "chatId" | "withActivity">,
  answer: { isShown: boolean },
  { ring, tell }: Hearing,
): (() => void)[] {
  return [
    listener.on(CHATS_CHANNEL, (ids) => void (ids.chatId === chatId && ring())),
    listener.on(TOKENS_CHANNEL, (ids) => {
      if (ids.chatId !== chatId) return;
      if (answer.isShown && ids.begins !== undefined) tell({ name: "token-reset" });
      if (ids.text) tell({ name: "token", text: ids.text });
      answer.isShown = Boolean(ids.text);
    }),
    listener.on(EVENTS_CHANNEL, ({ activity, ...ids }) => {
      if (withActivity && ids.chatId === chatId && activity !== undefined)
        tell({ name: "activity", activity });
    }),
    listener.onRenewed(ring),
  ];
}

/** Resolves when the reader has come so far. @returns whether the queue of what waits for the reader, 1,024 events, was full */
async function pushed(push: (event: ChatEvent) => Promise<unknown>, event: ChatEvent): Promise<boolean> {
  try {
    await push(event); // throws at once when it is full
    return false;
  } catch {
    return true;
  }
}

/** After how many milliseconds a reading that failed is tried again. */
const READ_AGAIN = 1_000;

const nothing = (place: Place) => ({ events: [] as ChatEvent[], next: place, over: false });

const EMPTY = { message: null, text: null, activity: null } as const;

/** What goes by, such as a piece of an answer that is being written. It is stored nowhere: what was missed stands in the message, in the end. */
const passing = (
  chatId: string,
  told: Pick<ChatEvent, "name"> & Partial<Pick<ChatEvent, "text" | "activity">>,
): ChatEvent => ({ ...EMPTY, id: newId(), chatId, status: "in-progress", ...told });

interface Place {
  readonly sequence: number;
  readonly statusEventId: string;
}

async function beginning(scope: Scope, chatId: string, after: string | null | undefined): Promise<Place> {
  const chat = await scope.of(Chats).byId(chatId);
  const { messageCount, status, statusEventId } = chat;
  const ended = status === "ended";
  // Nothing comes behind the end.
  if (after == null || (ended && after === statusEventId)) return { sequence: messageCount, statusEventId };
  const { sequence, seen } = await placeOf(scope, chat, after);
  return { sequence, statusEventId: !ended && seen ? statusEventId : "" };
}

/** How many messages of the chat a reader has seen whose last event was `after`, and whether its present status. */
async function placeOf(
  scope: Scope,
  chat: Chat,
  after: string,
): Promise<{ sequence: number; seen: boolean }> {
  const { statusPlaces, statusEventId } = chat;
  const messages = () => scope.table("messages").where({ chatId: chat.id });
  const [named] = await messages().select("sequence").where({ id: after });
  if (named) return { ...named, seen: !comesBefore({ ...named, id: after }, chat) };
  const place = statusPlaces[after];
  if (place !== undefined) return { sequence: place, seen: after === statusEventId };
  // A change that an older server has noted: its id was made in order with those of messages, as far as clocks agree.
  const [last] = await messages()
    .where("id", "<=", after)
    .max<{ sequence: number | null }[]>("sequence as sequence");
  return { sequence: last?.sequence ?? 0, seen: statusEventId <= after };
}

/** Whether a message was stored before the chat got its present status. */
function comesBefore(
  { sequence, id }: Pick<Message, "sequence" | "id">,
  { statusPlaces, statusEventId }: Pick<Chat, "statusPlaces" | "statusEventId">,
): boolean {
  const place = statusPlaces[statusEventId];
  return place === undefined ? id < statusEventId : sequence <= place;
}

async function behind(scope: Scope, chatId: string, { sequence, statusEventId }: Place) {
  // The chat first: once it has ended no message follows, so that those read after it are all.
  const chat = await scope.of(Chats).byId(chatId);
  const { status } = chat;
  const messages = await scope.of(Messages).after(chatId, sequence);
  const over = status === "ended";
  const events: ChatEvent[] = messages.map((message) => ({
    ...EMPTY,
    id: message.id,
    name: "conversation-updated",
    chatId,
    message,
    status,
  }));
  if (chat.statusEventId !== statusEventId) {
    const later = over ? -1 : messages.findIndex((message) => !comesBefore(message, chat));
    const changed = { ...EMPTY, id: chat.statusEventId, name: "status-changed", chatId, status } as const;
    events.splice(later < 0 ? events.length : later, 0, changed);
  }
  const next = { sequence: messages.at(-1)?.sequence ?? sequence, statusEventId: chat.statusEventId };
  return { events, next, over };
}
