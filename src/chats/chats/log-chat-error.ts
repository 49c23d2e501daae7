import { currentDate } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";

/** Adds an error to the log of a chat. */
export async function logChatError(scope: Scope, id: string, { message }: Error): Promise<void> {
  const entry = { at: currentDate(), message: message.slice(0, 500) };
  await scope.transaction(async (scope) => {
    await scope
      .table("chats")
      .where({ id })
      .update({ errors: scope.appended("errors", entry) });
  });
}
