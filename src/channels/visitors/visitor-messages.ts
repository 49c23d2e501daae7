import { sequenceAfter } from "../../chats/chats/chat-positions";
import { Chats } from "../../chats/chats/chats";
import { Messages, type Message, type MessageRow } from "../../chats/chats/messages";
import type { Scope } from "../../platform/database/scope";

/** A message as visitors see it. */
export interface VisitorMessage {
  readonly id: string;
  readonly role: "USER" | "ASSISTANT";
  readonly content: string;
  readonly clientId: string | null;
  readonly quickReplies: readonly string[];
  /** Whether the message reports that no answer could be generated. */
  readonly failed: boolean;
  /** Whether the message was looked up in texts of the assistant, without a model. */
  readonly local: boolean;
  readonly createdAt: Date;
}

/** Maximum number of messages returned at once. */
const MAX_MESSAGES = 200;

/** The message as visitors see it; undefined for messages that are hidden from them, such as function results. */
export function visibleMessage(message: Message): VisitorMessage | undefined {
  const { id, role, content, metadata, clientId, createdAt } = message as MessageRow; // as it was stored
  if ((role !== "USER" && role !== "ASSISTANT") || content === null) return undefined;
  const { quickReplies } = metadata;
  return {
    id,
    role,
    content,
    clientId,
    quickReplies: Array.isArray(quickReplies)
      ? quickReplies.filter((reply): reply is string => typeof reply === "string")
      : [],
    failed: metadata.error === true,
    local: metadata.local === true,
    createdAt,
  };
}

/**
 * Messages of a chat as visitors see them, oldest first. Calls for several chats are batched into one statement.
 * @param after id of the last message or event already received
 * @throws EVENT_NOT_FOUND
 */
export async function visibleMessages(
  scope: Scope,
  chatId: string,
  after: string | null | undefined,
): Promise<VisitorMessage[]> {
  const messages = await scope.of(Messages).last(chatId, MAX_MESSAGES);
  const seen = after == null ? 0 : await sequenceOf(scope, messages, chatId, after);
  return messages
    .filter(({ sequence }) => sequence > seen)
    .flatMap((message) => visibleMessage(message) ?? []);
}

async function sequenceOf(scope: Scope, messages: readonly Message[], chatId: string, after: string) {
  const known = messages.findLast(({ id }) => id === after);
  return known?.sequence ?? sequenceAfter(scope, await scope.of(Chats).byId(chatId), after);
}
