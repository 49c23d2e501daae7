import type { Message } from "./messages";

type Hear = (message: Message) => void;

const hearers = new Map<string, Set<Hear>>();

/** Hears each message that this process stores in a chat, sooner than the database tells of it. @returns what ends it */
export function hearStored(chatId: string, hear: Hear): () => void {
  const those = hearers.get(chatId) ?? new Set();
  hearers.set(chatId, those.add(hear));
  return () => {
    those.delete(hear);
    if (those.size === 0 && hearers.get(chatId) === those) hearers.delete(chatId);
  };
}

/** Tells of a message once it is committed. */
export function tellStored(message: Message): void {
  for (const hear of hearers.get(message.chatId) ?? []) hear(message);
}
