import { map, pipe, filter } from "@graphql-yoga/subscription";
import type { Visitor } from "../../account/auth/caller";
import { chatEvents, type ChatEvent, type ChatSubscription } from "../../chats/chats/chat-events";
import type { Listener } from "../../platform/database/notifications/listener";
import type { Scope } from "../../platform/database/scope";
import { visibleMessage, type VisitorMessage } from "./visitor-messages";
import { VisitorChats } from "./visitor-chats";

/** An event in a visitor's chat. A subscription with `after` set to its id resumes after it. */
export interface WidgetChatEvent {
  readonly id: string;
  readonly name: "message" | "status" | "token" | "token-reset" | "activity";
  readonly message: VisitorMessage | null;
  readonly status: string;
  readonly text: string | null;
  readonly activity: string | null;
}

const NAMES = {
  "conversation-updated": "message",
  "status-changed": "status",
  token: "token",
  "token-reset": "token-reset",
  activity: "activity",
} as const;

/** Streams the events of a visitor's chat; see `chatEvents`. @throws CHAT_NOT_FOUND, also for other people's chats */
export async function widgetChatEvents(
  fresh: () => Scope,
  listener: Pick<Listener, "on" | "onRenewed">,
  visitor: Visitor,
  followed: Pick<ChatSubscription, "chatId" | "after" | "tooSlow">,
): Promise<AsyncIterable<WidgetChatEvent>> {
  await fresh().of(VisitorChats).byId(visitor, followed.chatId);
  const events = await chatEvents(fresh, listener, { ...followed, withActivity: true });
  return pipe(events, map(toWidgetEvent), filter(isVisible));
}

function toWidgetEvent({ id, name, message, status, text, activity }: ChatEvent): WidgetChatEvent {
  const said = message && visibleMessage(message);
  return { id, name: NAMES[name], message: said ?? null, status, text, activity };
}

/** Drops messages that are hidden from visitors. */
const isVisible = ({ name, message }: WidgetChatEvent): boolean => name !== "message" || message !== null;
