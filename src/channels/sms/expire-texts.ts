import { deleteFound } from "../../platform/database/delete-found";
import type { Scope } from "../../platform/database/scope";

/** Texts deleted per table in one transaction. */
export const EXPIRED_BATCH_SIZE = 500;

/** Tables of texts, and their keys. */
const KEYS = { sms_received: "messageSid", sms_sent: "id" } as const;
export type TextTable = keyof typeof KEYS;

/** Which texts expire. */
export interface ExpiredTexts {
  readonly table: TextTable;
  readonly days: number;
  /** Whether texts in a conversation stay. */
  readonly outsideChats?: boolean;
}

/** Deletes the oldest texts that are older than some days. @returns their number, at most `EXPIRED_BATCH_SIZE` */
export async function expireTexts(
  scope: Scope,
  { table, days, outsideChats = false }: ExpiredTexts,
): Promise<number> {
  const key = KEYS[table];
  const old = scope
    .table(table)
    .select(key)
    .whereRaw("created_at < now() - ? * interval '1 day'", [days])
    .orderBy("createdAt")
    .limit(EXPIRED_BATCH_SIZE);
  if (outsideChats) old.whereNull("chatId");
  return deleteFound(scope, table, key, old);
}
