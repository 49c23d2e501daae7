import type { Scope } from "../../platform/database/scope";
import { idInAll } from "../../platform/database/values/ids";
import type { MessageRow } from "./messages";

type Owner = Pick<Scope, "organizationId">;

type MessageListener = (message: MessageRow) => void;

const listeners = new Map<string, Set<MessageListener>>();

/**
 * Listens to messages that this process stores in a chat, which is faster than notifications of the database.
 * @returns a function that stops listening
 */
export function onStored({ organizationId }: Owner, chatId: string, listener: MessageListener): () => void {
  const name = idInAll(organizationId, chatId);
  const ofChat = listeners.get(name) ?? new Set();
  listeners.set(name, ofChat.add(listener));
  return () => {
    ofChat.delete(listener);
    if (ofChat.size === 0 && listeners.get(name) === ofChat) listeners.delete(name);
  };
}

/** Notifies listeners of a committed message. */
export function notifyStored({ organizationId }: Owner, message: MessageRow): void {
  for (const listener of listeners.get(idInAll(organizationId, message.chatId)) ?? []) listener(message);
}
