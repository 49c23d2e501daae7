import type { Scope } from "../../platform/database/scope";
import type { CallRow } from "./calls";

/** Of one line: calls at once, and the pause from one dialling to the next, in milliseconds. */
const MOST_AT_ONCE = 10;
const PAUSE = 1_000;

/**
 * Whether it is a call's turn on its line, in the transaction that will note that it is dialled.
 * @returns 0 when it is, else how many milliseconds later it may be
 */
export async function turnToDial(scope: Scope, { chatId }: CallRow, line: string): Promise<number> {
  if (!(await scope.tryLock(`line:${line}`))) return PAUSE / 4;
  const live = scope
    .join(scope.table("calls"), "chats", "calls.chatId", "chats.id")
    .where("calls.line", line)
    .whereNot("chats.status", "ended");
  // The time that will be noted.
  const rows = (await live
    .select("calls.chatId", "calls.dialingSince", { now: scope.now() })
    .orderBy("calls.chatId")) as (Pick<CallRow, "chatId" | "dialingSince"> & { readonly now: Date })[];
  const dialled = rows.flatMap(({ dialingSince }) => (dialingSince === null ? [] : [dialingSince.getTime()]));
  const ahead =
    rows.findIndex((row) => row.chatId === chatId) -
    rows.findIndex(({ dialingSince }) => dialingSince === null);
  const now = rows[0]?.now.getTime() ?? 0;
  const free = dialled.length < MOST_AT_ONCE ? Math.max(...dialled, 0) + PAUSE - now : PAUSE;
  return Math.max(free, 0) + Math.max(ahead, 0) * PAUSE;
}
