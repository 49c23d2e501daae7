import { Messages, type Message, type MessageRow } from "../../chats/chats/messages";
import type { Scope } from "../../platform/database/scope";

/** A message as visitors see it. */
export interface VisitorMessage {
  readonly id: string;
  readonly role: "USER" | "ASSISTANT";
  readonly content: string;
  readonly clientId: string | null;
  readonly quickReplies: readonly string[];
  /** It says that no answer could be made. */
  readonly failed: boolean;
  readonly createdAt: Date;
}

/** Most messages of a chat that are shown at once. */
const MOST = 200;

/** The message as visitors see it; undefined for what is not said to anybody, such as a function's reply. */
export function shownMessage(message: Message): VisitorMessage | undefined {
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
    createdAt,
  };
}

/** What was said in a chat, oldest first; of many chats by one statement. @param after id of the last message that was seen */
export async function shownMessages(
  scope: Scope,
  chatId: string,
  after: string | null | undefined,
): Promise<VisitorMessage[]> {
  const messages = await scope.of(Messages).last(chatId, MOST);
  const seen = after == null ? -1 : messages.findLastIndex(({ id }) => id <= after);
  return messages.slice(seen + 1).flatMap((message) => shownMessage(message) ?? []);
}
