import { jobOf } from "../account/audit/note";
import { Chats } from "../chats/chats/chats";
import type { Database } from "../platform/database/database";
import type { Scope } from "../platform/database/scope";
import { unprepared } from "../platform/database/statement";
import { groupBy } from "../platform/group-by";
import { inBatches } from "../platform/jobs/rest";

type QuietChat = Awaited<ReturnType<Database["quietChats"]>>[number];

/** Chats that one transaction ends; they share one audit log entry. */
const BATCH_SIZE = 20;
/** Chats that are found at a time. */
const QUIET_CHATS = 500;

/** Chats in which something was said since the last look; others are locked by who is adding a message. */
const LOOK_LATER = unprepared(({ db }) =>
  db.raw(`
  update chats set quiet_from = last_message_at
  where chats.organization_id = $1 and id in (
    select id from chats where chats.organization_id = $1 and id = any($2::text[]) order by id for update skip locked)`),
);

/** Ends text and SMS chats without a message for `idleMinutes`. @param stop ends the run, when the server stops */
export async function endIdleChats(
  database: Database,
  idleMinutes: number,
  stop?: AbortSignal,
): Promise<void> {
  await inBatches(async () => {
    const quiet = await database.quietChats(idleMinutes);
    for (const [organizationId, chats] of groupBy(quiet, (chat) => chat.organizationId))
      await endOrLookLater(database.scope(organizationId), chats);
    // The next run looks again at what could not be ended.
    return quiet.length === QUIET_CHATS && quiet.some(({ isIdle }) => !isIdle);
  }, stop);
}

async function endOrLookLater(scope: Scope, chats: readonly QuietChat[]): Promise<void> {
  const idsOf = (isIdle: boolean) =>
    chats.filter((chat) => chat.isIdle === isIdle).map(({ chatId }) => chatId);
  const idle = idsOf(true).sort(); // all transactions lock chats in the order of their ids, which prevents deadlocks
  for (let at = 0; at < idle.length; at += BATCH_SIZE) await endAll(scope, idle.slice(at, at + BATCH_SIZE));
  const lively = idsOf(false);
  if (lively.length > 0) await scope.write(LOOK_LATER, [lively]);
}

async function endAll(scope: Scope, ids: readonly string[]): Promise<void> {
  const operation = jobOf("chat.endIdle", "Chat", null);
  await scope.audited(operation).transaction(async (scope) => {
    let chats = 0;
    for (const id of ids) if (await scope.of(Chats).endIfLive(id, "idle-timeout")) chats++;
    operation.count({ chats });
  });
}
