import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import type { CallRow } from "./calls";

/** Limits per line: simultaneous calls, and ms between two dial requests. */
const MAX_LIVE_CALLS = 10;
const DIAL_INTERVAL_MS = 1_000;

interface LiveCall extends Pick<CallRow, "chatId" | "dialingSince"> {
  /** The transaction's time, which is also recorded as the time of dialing. */
  readonly now: Date;
}

const LIVE_CALLS = statement<LiveCall>(({ db }) =>
  db.raw(`
  select calls.chat_id, calls.dialing_since, now() as now from calls
  join chats on chats.organization_id = $1 and chats.id = calls.chat_id
  where calls.organization_id = $1 and calls.line = $2 and chats.status <> 'ended' order by calls.chat_id`),
);

/**
 * Checks whether a call may be dialed now. Runs in the transaction that records the dialing.
 * @returns 0 if it may be dialed, else the number of ms to wait
 */
export async function turnToDial(scope: Scope, { chatId }: CallRow, line: string): Promise<number> {
  if (!(await scope.tryLock(`line:${line}`))) return DIAL_INTERVAL_MS / 4;
  const rows = await scope.read(LIVE_CALLS, [line]);
  const dialed = rows.flatMap(({ dialingSince }) => (dialingSince === null ? [] : [dialingSince.getTime()]));
  const ahead =
    rows.findIndex((row) => row.chatId === chatId) -
    rows.findIndex(({ dialingSince }) => dialingSince === null);
  const now = rows[0]?.now.getTime() ?? 0;
  const free =
    dialed.length < MAX_LIVE_CALLS ? Math.max(...dialed, 0) + DIAL_INTERVAL_MS - now : DIAL_INTERVAL_MS;
  return Math.max(free, 0) + Math.max(ahead, 0) * DIAL_INTERVAL_MS;
}
