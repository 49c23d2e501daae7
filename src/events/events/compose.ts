import { hash } from "node:crypto";
import type { Recipe } from "../../platform/database/tables/value-types";

/** The part of a payload that an event has in columns of its own. */
export interface Envelope {
  readonly name: string;
  readonly type: string;
  readonly assistantId: string;
}

/** A message as payloads contain it; others, of functions and of the system, are left out. */
export interface EventMessage {
  readonly sequence: number;
  readonly role: string;
  readonly content: string | null;
}

export type Payload = Record<string, unknown>;

/** Composes a payload. @param messages those of the chat, oldest first; more than the recipe needs may be given */
type Composer = (envelope: Envelope, recipe: Recipe, messages: readonly EventMessage[]) => Payload;

/** Roles in payloads. */
const ROLES: Readonly<Record<string, string>> = { ASSISTANT: "bot", USER: "user" };
export const MESSAGE_ROLES = Object.keys(ROLES);

/**
 * Composers by version. An event keeps the version by which it was recorded, and every attempt to deliver it sends the
 * same bytes: one that has landed is never changed or removed. Its payload must depend on its parameters only.
 */
const composers: Readonly<Record<number, Composer>> = {
  1: ({ name, type, assistantId }, { data, first = 1, last }, messages) => {
    const contained: { role: string; content?: string }[] = [];
    for (const { sequence, role, content } of messages) {
      const eventRole = ROLES[role];
      if (eventRole === undefined || sequence < first || sequence > last) continue;
      contained.push({ role: eventRole, ...(content !== null && { content }) });
    }
    return { event: name, type, companionId: assistantId, data: { messages: contained, ...data } };
  },
};

/** The version by which new events are recorded. */
const NEWEST_COMPOSER = 1;
/** An event contains the whole conversation; the oldest messages beyond this size are left out. */
export const MAX_MESSAGES_BYTES = 1_048_576;
/** Bytes of a message besides its content. */
const OVERHEAD_BYTES = 32;
/** SQL: the size of a message, as `recipeOf` counts it. */
export const MESSAGE_SIZE = `coalesce(octet_length(content), 0) + ${OVERHEAD_BYTES}`;

/** The recipe of a new event. @param messages of the conversation, newest first: all, or more than an event contains */
export function recipeOf(messages: readonly EventMessage[], data: Recipe["data"]): Recipe {
  let bytes = 0;
  let first: number | undefined;
  for (const { sequence, role, content } of messages) {
    if (ROLES[role] === undefined) continue;
    bytes += Buffer.byteLength(content ?? "") + OVERHEAD_BYTES;
    if (bytes > MAX_MESSAGES_BYTES && first !== undefined)
      return { composer: NEWEST_COMPOSER, last: messages[0]!.sequence, first, data };
    first = sequence;
  }
  return { composer: NEWEST_COMPOSER, last: messages[0]?.sequence ?? 0, data };
}

export function compose(envelope: Envelope, recipe: Recipe, messages: readonly EventMessage[]): Payload {
  const composer = composers[recipe.composer];
  if (!composer) throw new Error(`Events of composer ${recipe.composer} need a newer version of the server.`);
  return composer(envelope, recipe, messages);
}

/** The bytes that a payload has in deliveries. */
export const bodyOf = (payload: Payload): string => JSON.stringify(payload);

export const digestOf = (body: string): string => hash("sha256", body, "base64url");
