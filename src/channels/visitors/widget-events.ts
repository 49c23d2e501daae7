import { map, pipe, filter } from "@graphql-yoga/subscription";
import type { Visitor } from "../../account/auth/caller";
import { chatEvents, type ChatEvent, type Followed } from "../../chats/chats/chat-events";
import type { Listener } from "../../platform/database/listener";
import type { Scope } from "../../platform/database/scope";
import { shownMessage, type VisitorMessage } from "./visitor-messages";
import { VisitorChats } from "./visitor-chats";

/** Something that happened in a visitor's chat. Its id resumes the stream behind it. */
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

/** What happens in a visitor's chat, as `chatEvents` has it. @throws CHAT_NOT_FOUND, also for another's chat */
export async function widgetChatEvents(
  fresh: () => Scope,
  listener: Pick<Listener, "on" | "onRenewed">,
  visitor: Visitor,
  followed: Pick<Followed, "chatId" | "after" | "tooSlow">,
): Promise<AsyncIterable<WidgetChatEvent>> {
  await fresh().of(VisitorChats).byId(visitor, followed.chatId);
  const events = await chatEvents(fresh, listener, { ...followed, withActivity: true });
  return pipe(events, map(shown), filter(isShown));
}

function shown({ id, name, message, status, text, activity }: ChatEvent): WidgetChatEvent {
  const said = message && shownMessage(message);
  return { id, name: NAMES[name], message: said ?? null, status, text, activity };
}

/** A message that visitors don't see is no event for them. */
const isShown = ({ name, message }: WidgetChatEvent): boolean => name !== "message" || message !== null;
