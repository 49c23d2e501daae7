import type { Scope } from "../../platform/database/scope";

/**
 * Lets a job measure a chat again, whose words or end reason have changed. Runs in the transaction that has changed the
 * chat, and set `counted` to false.
 */
export async function measureAgain(scope: Scope, chatId: string): Promise<void> {
  for (const facts of ["conversation_facts_kept", "function_facts_kept", "live_facts"] as const)
    await scope.table(facts).where({ chatId }).delete();
}
