import { jobOf } from "../account/audit/note";
import { Chats } from "../chats/chats/chats";
import type { Database } from "../platform/database/database";
import type { Scope } from "../platform/database/scope";

/** Chats that one transaction ends, and that share an entry of the audit log. */
const BATCH = 20;

/** Ends the text and SMS chats in which nothing was said for a while. */
export async function endIdleChats(database: Database, idleMinutes: number): Promise<void> {
  const idle = new Map<string, string[]>();
  for (const { organizationId, chatId } of await database.idleChats(idleMinutes))
    idle.set(organizationId, [...(idle.get(organizationId) ?? []), chatId]);
  for (const [organizationId, ids] of idle) {
    ids.sort(); // others lock several chats by id too
    for (let at = 0; at < ids.length; at += BATCH)
      await endAll(database.scope(organizationId), ids.slice(at, at + BATCH));
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
