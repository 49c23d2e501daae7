import type { Scope } from "../../platform/database/scope";
import type { CallRow } from "./calls";

/** Limits per line: simultaneous calls, and ms between two dial requests. */
const MAX_LIVE_CALLS = 10;
const DIAL_INTERVAL_MS = 1_000;

/**
 * Checks whether a call may be dialed now. Runs in the transaction that records the dialing.
 * @returns 0 if it may be dialed, else the number of ms to wait
 */
export async function turnToDial(scope: Scope, { chatId }: CallRow, line: string): Promise<number> {
  if (!(await scope.tryLock(`line:${line}`))) return DIAL_INTERVAL_MS / 4;
  const live = scope
    .join(scope.table("calls"), "chats", "calls.chatId", "chats.id")
    .where("calls.line", line)
    .whereNot("chats.status", "ended");
  // The transaction's time, which is also recorded as the time of dialing.
  const rows = (await live
    .select("calls.chatId", "calls.dialingSince", { now: scope.now() })
    .orderBy("calls.chatId")) as (Pick<CallRow, "chatId" | "dialingSince"> & { readonly now: Date })[];
  const dialed = rows.flatMap(({ dialingSince }) => (dialingSince === null ? [] : [dialingSince.getTime()]));
  const ahead =
    rows.findIndex((row) => row.chatId === chatId) -
    rows.findIndex(({ dialingSince }) => dialingSince === null);
  const now = rows[0]?.now.getTime() ?? 0;
  const free =
    dialed.length < MAX_LIVE_CALLS ? Math.max(...dialed, 0) + DIAL_INTERVAL_MS - now : DIAL_INTERVAL_MS;
  return Math.max(free, 0) + Math.max(ahead, 0) * DIAL_INTERVAL_MS;
}
