import { Assistants } from "../../assistants/assistants/assistants";
import type { Scope } from "../../platform/database/scope";
import { Chats } from "./chats";

/** Deletes an assistant and ends its live chats. @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY */
export async function removeAssistant(scope: Scope, id: string): Promise<{ id: string }> {
  await scope.transaction(async (scope) => {
    await scope.of(Assistants).remove(id);
    await scope.of(Chats).endAll({ assistantId: id }, "assistant-deleted");
  });
  return { id };
}
