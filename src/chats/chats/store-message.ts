import { currentDate } from "../../platform/clock";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { MAX_MESSAGES_BYTES, MESSAGE_SIZE, type EventMessage } from "../../events/events/compose";
import { Events } from "../../events/events/events";
import type { Cause, Job } from "../../events/events/record";
import { recordingStatement } from "../../events/events/recording-statement";
import { TOKENS_CHANNEL, type ChatRow } from "./chats";
import type { MessageRow, NewMessage } from "./messages";

/** A chat with the messages that its next event contains, newest first, and one more if it leaves out others. */
export type Conversation = ChatRow & { readonly messages: readonly EventMessage[] };

/**
 * Stores a message, counts it, records its event and enqueues its jobs in one statement, because every message waits
 * for this.
 * @returns undefined if the chat does not exist, has ended, or its question was already answered
 */
export async function storeMessage(scope: Scope, input: NewMessage): Promise<MessageRow | undefined> {
  const { aiChatId, role, channel, metadata, answers } = input;
  const { content = null, toolCallId = null, toolCalls = null, clientId = null } = input;
  const answersUpTo = answers?.upTo ?? null;
  const columns = { role, channel, content, metadata, toolCallId, toolCalls, clientId, answersUpTo };
  for (let known = input.known; ; known = undefined) {
    const chat = known ?? (await conversationOf(scope, aiChatId));
    if (!chat || chat.status === "ended") return undefined;
    if (answers && answers.since !== chat.answeredSequence) return undefined;
    const identity = {
      id: input.id ?? newId(),
      chatId: chat.id,
      sequence: chat.messageCount + 1,
      createdAt: currentDate(),
    };
    const message = { ...identity, ...columns };
    const cause = { jobs: jobsOf(input, chat), ...causeOf(message, input), ...lastPart(scope, input) };
    if (await scope.of(Events).conversationUpdated(chat, [message, ...chat.messages], cause)) {
      if (channel !== chat.channel) scope.warn(otherChannel(channel, chat.channel));
      return message;
    }
    // Another message was stored in the meantime, or the chat has ended: retry with the current state.
  }
}

const otherChannel = (channel: string, own: string) =>
  `The channel ${channel} is stored with the message and has no effect: the channel of the chat is ${own}.`;

/** A chat, live or ended, with its messages, read by one statement. */
export async function conversationOf(scope: Scope, chatId: string): Promise<Conversation | undefined> {
  const [chat] = await scope.read(CONVERSATION, [chatId]);
  return chat;
}

/** The jobs of a new message: a turn for a person's message, a text for an assistant's message by SMS. */
function jobsOf({ role, spoken, unanswered }: NewMessage, { id: chatId, ...chat }: ChatRow): Cause["jobs"] {
  if (role === "USER" && !spoken && !unanswered)
    return [{ task: "chat.turn", payload: { chatId }, urgent: true }];
  const isSms = role === "ASSISTANT" && chat.channel === "SMS" && chat.phoneNumber !== null;
  return isSms ? [smsJobOf(chatId)] : [];
}

/** The job that sends the texts of a chat. At most one per chat waits. */
export const smsJobOf = (chatId: string) =>
  ({ task: "sms.send", payload: { chatId }, key: `sms.send:${chatId}` }) as const satisfies Job;

const CONVERSATION = statement<Conversation>(({ db, all }) =>
  db.raw(`
  select ${all("chats")}, coalesce(
    (select json_agg(json_build_object('sequence', sequence, 'role', role, 'content', content) order by sequence desc) from (
      select sequence, role, content, coalesce(sum(${MESSAGE_SIZE}) over (
        order by sequence desc rows between unbounded preceding and 1 preceding), 0) as newer
      from messages where messages.organization_id = $1 and chat_id = $2 and role in ('ASSISTANT', 'USER')
    ) message where newer <= ${MAX_MESSAGES_BYTES}), '[]') as messages
  from chats where chats.organization_id = $1 and id = $2`),
);

/** Sends the part of an answer that was not yet streamed. */
const lastPart = (scope: Scope, { aiChatId: chatId, unshown: text }: NewMessage): Pick<Cause, "announce"> =>
  text ? { announce: () => scope.announce(TOKENS_CHANNEL, { chatId, text }) } : {};

/** The statement locks the chat and requires the message count as read, so sequences have no gaps or duplicates. */
function causeOf(message: MessageRow, { answers }: NewMessage): Omit<Cause, "jobs"> {
  const { sequence, createdAt, role, content, metadata, toolCallId, toolCalls, answersUpTo } = message;
  const words = role === "USER" && content?.trim() ? labelFrom(content) : null;
  const stored = [message.id, role, message.channel, content, JSON.stringify(metadata), toolCallId];
  const calls = toolCalls && JSON.stringify(toolCalls);
  const values = [sequence, createdAt, words, answers?.since ?? null, answersUpTo, ...stored];
  return { statement: STORE, values: [...values, calls, message.clientId] };
}

const STORE = recordingStatement(({ db, home }) =>
  db.raw(`
  cause as (
    update chats set message_count = $11, event_count = event_count + 1, last_message_at = $12,
      first_words = coalesce(first_words, $13), answered_sequence = coalesce($15, answered_sequence)
    where chats.organization_id = $1 and id = $6 and status <> 'ended' and message_count = $11::integer - 1
      and ($14::integer is null or answered_sequence = $14)
    returning assistant_id, event_count
  ), message as (
    insert into messages (organization_id, id, chat_id, assistant_id, sequence, role, channel, content, metadata,
      tool_call_id, tool_calls, client_id, answers_up_to, created_at)
    select ${home.id}, $16, $6, cause.assistant_id, $11, $17, $18, $19, $20::jsonb, $21, $22::json, $23, $15, $12
    from cause ${home.join}
    returning 1
  )`),
);

const MAX_LABEL_LENGTH = 80;

/** The start of a text, cut between words if possible and never inside a character. */
export function labelFrom(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  const letters = Array.from(line.slice(0, MAX_LABEL_LENGTH * 2));
  if (letters.length <= MAX_LABEL_LENGTH && line.length <= MAX_LABEL_LENGTH * 2) return line;
  const cut = letters.slice(0, MAX_LABEL_LENGTH).join("");
  return `${cut.slice(0, cut.lastIndexOf(" ") > MAX_LABEL_LENGTH / 2 ? cut.lastIndexOf(" ") : undefined)}…`;
}
