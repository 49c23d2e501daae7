import { currentDate } from "../../platform/clock";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { Events, type EventMessage } from "../../events/events/events";
import { changing, type Cause, type Job } from "../../events/events/record";
import { TOKENS_CHANNEL, type ChatRow } from "./chats";
import type { MessageRow, NewMessage } from "./messages";

/** A chat with what was said in it, the newest first. */
export type Conversation = ChatRow & { readonly said: readonly EventMessage[] };

/**
 * Counts a message in its chat, stores it, tells of it, and has done what it asks for, all by one statement, as
 * everything that is said waits for it.
 * @returns undefined when there is no such live chat, or what it answers was answered
 */
export async function storeMessage(scope: Scope, input: NewMessage): Promise<MessageRow | undefined> {
  const { aiChatId, role, channel, metadata, answers } = input;
  const { content = null, toolCallId = null, toolCalls = null, clientId = null } = input;
  const said = { role, channel, content, metadata, toolCallId, toolCalls, clientId };
  for (let known = input.known; ; known = undefined) {
    const chat = known ?? (await conversationOf(scope, aiChatId));
    if (!chat || chat.status === "ended") return undefined;
    if (answers && answers.since !== chat.answeredSequence) return undefined;
    const place = { id: newId(), chatId: chat.id, sequence: chat.messageCount + 1, createdAt: currentDate() };
    const message = { ...place, ...said };
    const cause = { ...storing(message, input), jobs: jobsOf(input, chat) };
    if (await scope.of(Events).conversationUpdated(chat, [message, ...chat.said], cause)) return message;
    // Something else was said meanwhile, or the chat has ended.
  }
}

/** A chat, live or ended, with what was said in it, as of one moment. */
export async function conversationOf(scope: Scope, chatId: string): Promise<Conversation | undefined> {
  const [chat] = await scope.read(CONVERSATION, [chatId]);
  return chat;
}

/** A person is answered in a turn. */
function jobsOf({ role, spoken, unanswered }: NewMessage, { id: chatId, ...chat }: ChatRow): Cause["jobs"] {
  if (role === "USER" && !spoken && !unanswered)
    return [{ task: "chat.turn", payload: { chatId }, urgent: true }];
  const isSms = role === "ASSISTANT" && chat.channel === "SMS" && chat.phoneNumber !== null;
  return isSms ? [sendingOf(chatId)] : [];
}

/** The job that sends the texts of a chat, of which one waits at a time. */
export const sendingOf = (chatId: string) =>
  ({ task: "sms.send", payload: { chatId }, key: `sms.send:${chatId}` }) as const satisfies Job;

const CONVERSATION = statement<Conversation>(({ db, all }) =>
  db.raw(`
  select ${all("chats")}, coalesce(
    (select json_agg(json_build_object('role', role, 'content', content) order by sequence desc) from messages
     where messages.organization_id = $1 and chat_id = $2 and role in ('ASSISTANT', 'USER')), '[]') as said
  from chats where chats.organization_id = $1 and id = $2`),
);

/** The chat's row is locked by the statement, and counts as it was read: one writer at a time, no gap and no twin. */
function storing(message: MessageRow, { answers, unshown }: NewMessage): Omit<Cause, "jobs"> {
  const { sequence, createdAt, role, content, metadata, toolCallId, toolCalls } = message;
  const words = role === "USER" && content?.trim() ? firstOf(content) : null;
  const stored = [message.id, role, message.channel, content, JSON.stringify(metadata), toolCallId];
  const calls = toolCalls && JSON.stringify(toolCalls);
  const values = [sequence, createdAt, words, answers?.since ?? null, answers?.upTo ?? null, ...stored];
  return { statement: STORE, values: [...values, calls, message.clientId, unshown || null] };
}

const STORE = changing(({ db }) =>
  db.raw(`
  cause as (
    update chats set message_count = $13, event_count = event_count + 1, last_message_at = $14,
      first_words = coalesce(first_words, $15), answered_sequence = coalesce($17, answered_sequence)
    where chats.organization_id = $1 and id = $6 and status <> 'ended' and message_count = $13::integer - 1
      and ($16::integer is null or answered_sequence = $16)
    returning assistant_id, event_count, case when $26::text is not null then pg_notify('${TOKENS_CHANNEL}',
      json_build_object('organizationId', $1::text, 'chatId', $6::text, 'text', $26::text)::text) end
  ), message as (
    insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content, metadata,
      tool_call_id, tool_calls, client_id, created_at)
    select $1, $18, $6, cause.assistant_id, $13, $19, $20, $21, $22::jsonb, $23, $24::json, $25, $14 from cause
  )`),
);

const LABEL_LENGTH = 80;

/** The beginning of a text, cut between words where possible and never inside a character. */
export function firstOf(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  const letters = Array.from(line.slice(0, LABEL_LENGTH * 2));
  if (letters.length <= LABEL_LENGTH && line.length <= LABEL_LENGTH * 2) return line;
  const cut = letters.slice(0, LABEL_LENGTH).join("");
  return `${cut.slice(0, cut.lastIndexOf(" ") > LABEL_LENGTH / 2 ? cut.lastIndexOf(" ") : undefined)}…`;
}
