import type { ChatRow } from "../../chats/chats/chats";
import { noteLogs } from "../../chats/logs/log-changes";
import { deleteEvents } from "../../events/events/delivery-sums";
import type { AuditedOperation } from "../../platform/database/tables/audited-operation";
import type { Scope } from "../../platform/database/scope";
import { withdrawExports } from "../people/withdraw";
import { eraseAtProviders } from "./at-providers";
import { detachAggregates, keepAggregates } from "./keep-aggregates";

/** Counts of removed items, by kind. */
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

/** Adds to the counts of a receipt, in the transaction that removes the items. */
export type Count = (scope: Scope, counts: Partial<Counts>) => Promise<void>;

export interface RemoveOptions {
  readonly count?: Count;
  /** Creates the operation that records each batch in the audit log, for jobs without a caller. */
  readonly operation?: () => AuditedOperation;
  /** Runs in the transaction that removes the chats. */
  readonly also?: (scope: Scope, chats: readonly RemovedChat[]) => Promise<void>;
  /** Whether exports with these chats stay available; true if chats are removed because of their age alone. */
  readonly keepsExports?: boolean;
  /** Id of the erasure whose receipt records what providers refuse to delete. */
  readonly erasureId?: string;
}

export type RemovedChat = Pick<
  ChatRow,
  "id" | "assistantId" | "uniqueId" | "recordingUrl" | "endedAt" | "identityProven"
>;

/** Events per statement (their deliveries are deleted with them), and messages per statement. */
const EVENT_BATCH_SIZE = 500;
const MESSAGE_BATCH_SIZE = 2_000;
/** Chats removed per transaction. */
export const CHAT_BATCH_SIZE = 20;
/** How long after the end of a chat a running turn may still write events, in ms. */
const TURN_GRACE_MS = 900_000;

/**
 * Removes ended chats with their messages, recordings, texts, calls, events and deliveries. Anonymous counts stay;
 * live chats are skipped. An interrupted run can be repeated.
 */
export async function removeChats(
  scope: Scope,
  chatIds: readonly string[],
  options: RemoveOptions = {},
): Promise<void> {
  const { count: add = () => Promise.resolve(), operation } = options;
  for (let at = 0; at < chatIds.length; at += CHAT_BATCH_SIZE) {
    const some = chatIds.slice(at, at + CHAT_BATCH_SIZE);
    const batch = operation?.();
    const count: Count = async (scope, counts) => {
      batch?.count(counts);
      await add(scope, counts);
    };
    const ended = await scope.transaction(async (scope) => {
      const rows = await lockEnded(scope, some);
      const ids = rows.map(({ id }) => id);
      await keepAggregates(scope, ids);
      return ids;
    });
    await deleteInBatches(scope, "events", ended, EVENT_BATCH_SIZE, count);
    await deleteInBatches(scope, "messages", ended, MESSAGE_BATCH_SIZE, count);
    const recorded = batch ? scope.audited(batch) : scope;
    await recorded.transaction((scope) => removeRows(scope, ended, { ...options, count }));
  }
}

/** Removes events that were written after their chat had been removed. */
export async function sweepChat(scope: Scope, chatId: string): Promise<void> {
  const chats = await scope.table("chats").select("id").where({ id: chatId });
  if (chats.length === 0)
    await deleteInBatches(scope, "events", [chatId], EVENT_BATCH_SIZE, () => Promise.resolve());
}

function lockEnded(scope: Scope, ids: readonly string[]): Promise<RemovedChat[]> {
  const rows = scope.table("chats").whereIn("id", ids).where({ status: "ended" });
  return rows
    .select("id", "assistantId", "uniqueId", "recordingUrl", "endedAt", "identityProven")
    .orderBy("id")
    .forUpdate();
}

async function deleteInBatches(
  scope: Scope,
  table: "events" | "messages",
  chatIds: readonly string[],
  batch: number,
  count: Count,
): Promise<void> {
  // Others may delete some of them meanwhile, so those that are found decide whether there may be more.
  for (let found = batch; found === batch;)
    found = await scope.transaction(async (scope) => {
      const some = await scope.table(table).select("id").whereIn("chatId", chatIds).limit(batch);
      const ids = some.map(({ id }) => id);
      const rows =
        table === "events"
          ? await deleteEvents(scope, ids)
          : await scope.table(table).whereIn("id", ids).delete();
      if (rows > 0) await count(scope, { [table]: rows });
      return ids.length;
    });
}

async function removeRows(
  scope: Scope,
  ids: readonly string[],
  { count, also, keepsExports = false, erasureId }: RemoveOptions & { readonly count: Count },
): Promise<void> {
  const chats = await lockEnded(scope, ids);
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
  await noteLogs(scope, ids, -1);
  await scope.table("live_facts").whereIn("chatId", ids).delete();
  // Foreign keys do the same, but not in a Citus cluster.
  const { organizationId } = scope;
  await scope.shared("call_lookup").where({ organizationId }).whereIn("chatId", ids).delete();
  await scope.table("chats").whereIn("id", ids).delete();
  await count(scope, {
    chats: chats.length,
    exports,
    recordings: chats.filter(({ recordingUrl }) => recordingUrl !== null).length,
    texts: (texts as number[]).reduce((sum, one) => sum + one, 0),
  });
}

/** Deletes the memory of how these conversations ended, which the next conversation would refer to. */
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
    await scope.enqueue("chat.sweep", { chatId }, { runAt: new Date(endedAt!.getTime() + TURN_GRACE_MS) });
}
