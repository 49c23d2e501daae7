import type { ChatRow } from "../../chats/chats/chats";
import type { AuditedOperation } from "../../platform/database/audited-operation";
import type { Scope } from "../../platform/database/scope";
import { withdrawExports } from "../people/withdraw";
import { eraseAtProviders } from "./at-providers";
import { detachAggregates, keepAggregates } from "./keep-aggregates";

/** What went, by kind. */
export interface Counts {
  readonly chats: number;
  readonly messages: number;
  readonly events: number;
  readonly recordings: number;
  readonly texts: number;
  readonly facts: number;
  readonly contexts: number;
  readonly files: number;
  readonly exports: number;
}

/** Adds to the counts of a receipt, in the transaction that removes what is counted. */
export type Count = (scope: Scope, gone: Partial<Counts>) => Promise<void>;

export interface RemoveOptions {
  readonly count?: Count;
  /** Makes the operation that records each batch of chats in the audit log, for jobs that nobody asked for. */
  readonly operation?: () => AuditedOperation;
  /** Does more in the transaction that removes the chats. */
  readonly also?: (scope: Scope, chats: readonly RemovedChat[]) => Promise<void>;
  /** Whether archives that hold the chats stay for their day: so they do when a chat goes for its age alone. */
  readonly keepsExports?: boolean;
  /** Whose receipt tells what providers refuse to delete. */
  readonly erasureId?: string;
}

export type RemovedChat = Pick<
  ChatRow,
  "id" | "assistantId" | "uniqueId" | "recordingUrl" | "endedAt" | "identityProven"
>;

/** Of one statement: deliveries go with events. */
const MOST_EVENTS = 500;
const MOST_MESSAGES = 2_000;
/** Chats that one transaction removes. */
export const MOST_CHATS = 20;
/** A turn that began before its chat ended may still tell of itself so long after, in milliseconds. */
const TURN_MS = 900_000;

/**
 * Removes ended chats with all that belongs to them: messages, recordings, texts, calls, events and their deliveries.
 * Counts stay, cut from the chats. Live chats among them stay too. Begun again after a crash it goes on.
 */
export async function removeChats(
  scope: Scope,
  chatIds: readonly string[],
  options: RemoveOptions = {},
): Promise<void> {
  const { count: add = () => Promise.resolve(), operation } = options;
  for (let at = 0; at < chatIds.length; at += MOST_CHATS) {
    const some = chatIds.slice(at, at + MOST_CHATS);
    const batch = operation?.();
    const count: Count = async (scope, gone) => {
      batch?.count(gone);
      await add(scope, gone);
    };
    const ended = await scope.transaction(async (scope) => {
      const rows = await held(scope, some);
      const ids = rows.map(({ id }) => id);
      await keepAggregates(scope, ids);
      return ids;
    });
    await drain(scope, "events", ended, MOST_EVENTS, count);
    await drain(scope, "messages", ended, MOST_MESSAGES, count);
    const recorded = batch ? scope.audited(batch) : scope;
    await recorded.transaction((scope) => removeEmptied(scope, ended, { ...options, count }));
  }
}

/** Removes what was still written of chats that are gone. */
export async function sweepChat(scope: Scope, chatId: string): Promise<void> {
  const chats = await scope.table("chats").select("id").where({ id: chatId });
  if (chats.length === 0) await drain(scope, "events", [chatId], MOST_EVENTS, () => Promise.resolve());
}

function held(scope: Scope, ids: readonly string[]): Promise<RemovedChat[]> {
  const rows = scope.table("chats").whereIn("id", ids).where({ status: "ended" });
  return rows
    .select("id", "assistantId", "uniqueId", "recordingUrl", "endedAt", "identityProven")
    .orderBy("id")
    .forUpdate();
}

async function drain(
  scope: Scope,
  table: "events" | "messages",
  chatIds: readonly string[],
  most: number,
  count: Count,
): Promise<void> {
  for (let gone = most; gone === most;)
    gone = await scope.transaction(async (scope) => {
      const some = scope.table(table).select("id").whereIn("chatId", chatIds).limit(most);
      const deleted = await scope.table(table).whereIn("id", some).delete();
      if (deleted > 0) await count(scope, { [table]: deleted });
      return deleted;
    });
}

async function removeEmptied(
  scope: Scope,
  ids: readonly string[],
  { count, also, keepsExports = false, erasureId }: RemoveOptions & { readonly count: Count },
): Promise<void> {
  const chats = await held(scope, ids);
  const exports = keepsExports ? 0 : await withdrawExports(scope, { chatIds: ids });
  await detachAggregates(scope, chats);
  await also?.(scope, chats);
  await forgetEnds(scope, chats);
  await eraseAtProviders(scope, ids, erasureId);
  await sweepLater(scope, ids);
  const texts = await Promise.all(
    (["sms_sent", "sms_received"] as const).map((table) =>
      scope.table(table).whereIn("chatId", ids).delete(),
    ),
  );
  await scope.table("chats").whereIn("id", ids).delete();
  await count(scope, {
    chats: chats.length,
    exports,
    recordings: chats.filter(({ recordingUrl }) => recordingUrl !== null).length,
    texts: (texts as number[]).reduce((sum, one) => sum + one, 0),
  });
}

/** How a conversation ended is kept for the next one, in the person's words. */
async function forgetEnds(scope: Scope, chats: readonly RemovedChat[]): Promise<void> {
  for (const { id, assistantId, uniqueId, identityProven } of chats)
    if (uniqueId !== null) {
      const context = identityProven ? "signedContext" : "context";
      const chatId = `${context}ChatId`;
      await scope
        .table("end_users")
        .where({ assistantId, uniqueId })
        .where((either) => either.where(chatId, id).orWhereNull(chatId))
        .update({ [context]: null, [`${context}VisitorId`]: null, [chatId]: null });
    }
}

async function sweepLater(scope: Scope, chatIds: readonly string[]): Promise<void> {
  const recent = await scope
    .table("chats")
    .select("id", "endedAt")
    .whereIn("id", chatIds)
    .whereRaw("ended_at > now() - interval '1 hour'");
  for (const { id: chatId, endedAt } of recent)
    await scope.enqueue("chat.sweep", { chatId }, { runAt: new Date(endedAt!.getTime() + TURN_MS) });
}
