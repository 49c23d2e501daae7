import type { MessageRow } from "./messages";

type MessageListener = (message: MessageRow) => void;

const listeners = new Map<string, Set<MessageListener>>();

/**
 * Listens to messages that this process stores in a chat, which is faster than notifications of the database.
 * @returns a function that stops listening
 */
export function onStored(chatId: string, listener: MessageListener): () => void {
  const ofChat = listeners.get(chatId) ?? new Set();
  listeners.set(chatId, ofChat.add(listener));
  return () => {
    ofChat.delete(listener);
    if (ofChat.size === 0 && listeners.get(chatId) === ofChat) listeners.delete(chatId);
  };
}

/** Notifies listeners of a committed message. */
export function notifyStored(message: MessageRow): void {
  for (const listener of listeners.get(message.chatId) ?? []) listener(message);
}
