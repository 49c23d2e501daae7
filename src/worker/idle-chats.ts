import { jobOf } from "../account/audit/note";
import { Chats } from "../chats/chats/chats";
import type { Database } from "../platform/database/database";
import type { Scope } from "../platform/database/scope";

/** Chats that one transaction ends; they share one audit log entry. */
const BATCH_SIZE = 20;

/** Ends text and SMS chats without a message for `idleMinutes`. */
export async function endIdleChats(database: Database, idleMinutes: number): Promise<void> {
  const idle = new Map<string, string[]>();
  for (const { organizationId, chatId } of await database.idleChats(idleMinutes))
    idle.set(organizationId, [...(idle.get(organizationId) ?? []), chatId]);
  for (const [organizationId, ids] of idle) {
    ids.sort(); // all transactions lock chats in the order of their ids, which prevents deadlocks
    for (let at = 0; at < ids.length; at += BATCH_SIZE)
      await endAll(database.scope(organizationId), ids.slice(at, at + BATCH_SIZE));
  }
}

async function endAll(scope: Scope, ids: readonly string[]): Promise<void> {
  const operation = jobOf("chat.endIdle", "Chat", null);
  await scope.audited(operation).transaction(async (scope) => {
    let chats = 0;
    for (const id of ids) if (await scope.of(Chats).endIfLive(id, "idle-timeout")) chats++;
    operation.count({ chats });
  });
}
