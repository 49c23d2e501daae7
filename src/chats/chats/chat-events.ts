import { Repeater } from "@graphql-yoga/subscription";
import type { Listener } from "../../platform/database/notifications/listener";
import type { Scope } from "../../platform/database/scope";
import { tracing } from "../../platform/tracing/tracing";
import { CHATS_CHANNEL, EVENTS_CHANNEL } from "../../events/events/record";
import { comesBefore, startOf, transientId, type StreamPosition } from "./chat-positions";
import { watchChat } from "./chat-watch";
import { ShownAnswer } from "./shown-answer";
import { Signal } from "./signal";
import { Chats, TOKENS_CHANNEL, type ChatStatus } from "./chats";
import { Messages, type Message } from "./messages";

/** An event in a chat. A stream can be resumed after its id. */
export interface ChatEvent {
  readonly id: string;
  /**
   * `conversation-updated` has the message, `status-changed` the status, `token` a part of an answer, `activity` the
   * activity; `token-reset` means that the answer starts again, or is discarded.
   */
  readonly name: "conversation-updated" | "status-changed" | "token" | "token-reset" | "activity";
  readonly chatId: string;
  readonly message: Message | null;
  readonly status: ChatStatus;
  readonly text: string | null;
  /** What the assistant does: `thinking`, `speaking`, `listening`, or the name of the function that it calls. */
  readonly activity: string | null;
}

/** Options of a stream of chat events. */
export interface ChatSubscription {
  readonly chatId: string;
  /** Id of the last event received, stored or not; the id of the chat for its beginning. */
  readonly after?: string | null;
  /** Whether to include `activity` events. */
  readonly withActivity?: boolean;
  /** Called when the reader is too slow and its queue is full; the stream then ends. */
  readonly tooSlow?: () => void;
}

/**
 * Events of a chat from now on, or after the event `after`, whichever process stores them. A notification only wakes
 * the stream, which then reads everything after the last sent event, so that lost notifications lose no events. Ends
 * with the chat.
 * @param fresh creates a scope for each read, because the loaders of a scope keep what they have read
 * @throws CHAT_NOT_FOUND, EVENT_NOT_FOUND
 */
export async function chatEvents(
  fresh: () => Scope,
  listener: Pick<Listener, "on" | "onRenewed">,
  { chatId, after, withActivity = false, tooSlow = () => undefined }: ChatSubscription,
): Promise<Repeater<ChatEvent>> {
  const scope = fresh();
  let { position, lastId } = await startOf(scope, await scope.of(Chats).byId(chatId), after);
  return new Repeater<ChatEvent>(async (push, stop) => {
    let stopped = false;
    const signal = new Signal();
    const wake = () => signal.notify();
    const send = async (event: ChatEvent) => {
      if (stopped || (await tryPush(push, event))) return;
      tooSlow();
      stop();
    };
    const answer = new ShownAnswer(after);
    const sendTransient = (event: TransientEvent) =>
      send(transientEvent(chatId, lastId, event, answer.note(event)));
    const unsubscribe = subscribe(listener, { scope, chatId, withActivity }, answer, { wake, sendTransient });
    unsubscribe.push(watchChat(listener, { chatId, fresh, position: () => position, wake }));
    void stop.then(() => ((stopped = true), wake()));
    while (!stopped) {
      const { events, next, isLast } = await readAfter(fresh(), chatId, position).catch(() => {
        setTimeout(wake, RETRY_PAUSE_MS).unref();
        return noEvents(position);
      });
      for (const event of events) {
        if (answer.isCutOffBy(event)) await sendTransient({ name: "token-reset" });
        answer.note(event);
        lastId = event.id;
        await send(event);
      }
      position = next;
      if (isLast) stop();
      else await signal.wait();
    }
    unsubscribe.forEach((end) => end());
  });
}

interface StreamCallbacks {
  /** Called when an event was stored. */
  readonly wake: () => void;
  /** Sends an event that is not stored. */
  readonly sendTransient: (event: TransientEvent) => Promise<void>;
}

/** An event that is not stored. */
type TransientEvent = Pick<ChatEvent, "name"> & Partial<Pick<ChatEvent, "text" | "activity">>;

/**
 * Subscribes to notifications about a chat.
 * @returns functions that unsubscribe
 */
function subscribe(
  listener: Pick<Listener, "on" | "onRenewed">,
  {
    scope: { organizationId },
    chatId,
    withActivity,
  }: Pick<ChatSubscription, "chatId" | "withActivity"> & { readonly scope: Scope },
  answer: ShownAnswer,
  { wake, sendTransient }: StreamCallbacks,
): (() => void)[] {
  // An imported chat may have the id of another organization's.
  const isOurs = (ids: Readonly<Record<string, string>>) =>
    ids.organizationId === organizationId && ids.chatId === chatId;
  return [
    listener.on(CHATS_CHANNEL, (ids) => void (isOurs(ids) && wake())),
    listener.on(TOKENS_CHANNEL, (ids) => {
      if (!isOurs(ids)) return;
      if (answer.isBroken && ids.begins === undefined) return;
      answer.isBroken = false;
      if (answer.isShown && ids.begins !== undefined) void sendTransient({ name: "token-reset" });
      if (ids.text) void sendTransient({ name: "token", text: ids.text });
    }),
    listener.on(EVENTS_CHANNEL, ({ activity, ...ids }) => {
      if (withActivity && isOurs(ids) && activity !== undefined)
        void sendTransient({ name: "activity", activity });
    }),
    listener.onRenewed(wake),
  ];
}

/** Resolves when the reader has taken the event. @returns false if the reader's queue (1,024 events) was full */
async function tryPush(push: (event: ChatEvent) => Promise<unknown>, event: ChatEvent): Promise<boolean> {
  try {
    await push(event); // throws if the queue is full
    return true;
  } catch {
    return false;
  }
}

/** Pause before a failed read is retried. */
const RETRY_PAUSE_MS = 1_000;

const noEvents = (position: StreamPosition): NewEvents => ({ events: [], next: position, isLast: false });

const EMPTY = { message: null, text: null, activity: null } as const;

/** An event that is not stored, such as a part of an answer: readers that miss it get the text with the message. */
const transientEvent = (
  chatId: string,
  lastId: string,
  event: TransientEvent,
  isAnswerShown: boolean,
): ChatEvent => ({
  ...EMPTY,
  id: transientId(lastId, isAnswerShown),
  chatId,
  status: "in-progress",
  ...event,
});

/** Reads what a wake-up announced, in a trace of its own: that of a subscription may last for days. */
function readAfter(scope: Scope, chatId: string, position: StreamPosition): Promise<NewEvents> {
  const read = () => eventsAfter(scope, chatId, position);
  const attributes = { "parley.chat.id": chatId };
  return tracing.tracer?.run("read chat events", { attributes }, read) ?? read();
}

interface NewEvents {
  readonly events: readonly ChatEvent[];
  readonly next: StreamPosition;
  readonly isLast: boolean;
}

async function eventsAfter(
  scope: Scope,
  chatId: string,
  { sequence, statusEventId }: StreamPosition,
): Promise<NewEvents> {
  // Reads the chat first: if it has ended, no message can follow those read afterwards.
  const chat = await scope.of(Chats).byId(chatId);
  const { status } = chat;
  const messages = await scope.of(Messages).after(chatId, sequence);
  const isLast = status === "ended";
  const events: ChatEvent[] = messages.map((message) => ({
    ...EMPTY,
    id: message.id,
    name: "conversation-updated",
    chatId,
    message,
    status,
  }));
  if (chat.statusEventId !== statusEventId) {
    const later = isLast ? -1 : messages.findIndex((message) => !comesBefore(message, chat));
    const statusChanged = {
      ...EMPTY,
      id: chat.statusEventId,
      name: "status-changed",
      chatId,
      status,
    } as const;
    events.splice(later < 0 ? events.length : later, 0, statusChanged);
  }
  const next = { sequence: messages.at(-1)?.sequence ?? sequence, statusEventId: chat.statusEventId };
  return { events, next, isLast };
}
