import { newId } from "../database/ids";
import type { Build, Scope } from "../database/scope";
import type { ChatRow } from "./chats";
import type { MessageRow, NewMessage } from "./messages";

/**
 * Counts a message in its chat and stores it, by one statement, as everything that is said waits for it. The chat's
 * row is locked by that: one writer at a time, no gap and no twin.
 * @returns undefined when there is no such live chat, or what it answers was answered
 */
export async function storeMessage(
  scope: Scope,
  input: NewMessage,
): Promise<{ chat: ChatRow; message: MessageRow } | undefined> {
  const { aiChatId: chatId, role, channel, metadata, answers } = input;
  const { content = null, toolCallId = null, toolCalls = null, clientId = null } = input;
  const id = newId();
  const createdAt = new Date();
  const words = role === "USER" && content?.trim() ? firstOf(content) : null;
  const stored = [id, role, channel, content, JSON.stringify(metadata), toolCallId];
  const values = [chatId, createdAt, words, answers?.since ?? null, answers?.upTo ?? null, ...stored];
  const calls = toolCalls && JSON.stringify(toolCalls);
  const [chat] = await scope.named<ChatRow>("messages.store", statement, [...values, calls, clientId]);
  if (!chat) return undefined;
  const { messageCount: sequence } = chat;
  const said = { role, channel, content, metadata, toolCallId, toolCalls, clientId };
  return { chat, message: { id, chatId, sequence, ...said, createdAt } };
}

const statement: Build = (_table, _$, db) =>
  db.raw(`
  with chat as (
    update chats set message_count = message_count + 1, last_message_at = $3,
      first_words = coalesce(first_words, $4), answered_sequence = coalesce($6, answered_sequence)
    where chats.organization_id = $1 and id = $2 and status <> 'ended' and ($5::integer is null or answered_sequence = $5)
    returning *
  ), message as (
    insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content, metadata,
      tool_call_id, tool_calls, client_id, created_at)
    select $1, $7, chat.id, chat.assistant_id, chat.message_count, $8, $9, $10, $11::jsonb, $12, $13::json, $14, $3 from chat
  )
  select chat.* from chat`);

const LABEL_LENGTH = 80;

/** The beginning of a text, cut between words where possible and never inside a character. */
function firstOf(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  const letters = Array.from(line.slice(0, LABEL_LENGTH * 2));
  if (letters.length <= LABEL_LENGTH && line.length <= LABEL_LENGTH * 2) return line;
  const cut = letters.slice(0, LABEL_LENGTH).join("");
  return `${cut.slice(0, cut.lastIndexOf(" ") > LABEL_LENGTH / 2 ? cut.lastIndexOf(" ") : undefined)}…`;
}
