import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";

const ADD = `on conflict (organization_id, assistant_id, started_at, chat_id, channel)
    do update set change = log_changes.change + excluded.change`;

/** Copies the start in SQL: a `Date` has no microseconds. */
const NOTE = statement(({ db }) =>
  db.raw(`
  insert into log_changes (organization_id, assistant_id, channel, started_at, chat_id, change)
  select c.organization_id, c.assistant_id, c.channel, c.started_at, c.id, $3::integer
  from chats c where c.organization_id = $1 and c.id = any($2::text[])
  ${ADD}`),
);

/**
 * Notes that chats were added to the lists of logs (1), or are about to be removed (-1). Runs in the transaction that
 * does so, while the rows exist: the blocks of `count-logs.ts` are right only if every change is noted.
 */
export async function noteLogs(scope: Scope, chatIds: readonly string[], change: 1 | -1): Promise<void> {
  await scope.write(NOTE, [chatIds, change]);
}
