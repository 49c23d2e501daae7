import type { Scope } from "../../platform/database/scope";

/** Lengths of conversations without idle time, as the statistics count them. */
export class Lengths {
  constructor(private readonly scope: Scope) {}

  /** In seconds; null while the chat is live. Calls in the same tick share one statement. */
  of(chatId: string): Promise<number | null> {
    const loader = this.scope.loader<number | null>("lengths", async (chatIds) => {
      const rows = await this.scope
        .table("conversation_facts")
        .select("chatId", "seconds")
        .whereIn("chatId", chatIds);
      const found = new Map(rows.map(({ chatId, seconds }) => [chatId, seconds]));
      return chatIds.map((id) => found.get(id) ?? null);
    });
    return loader.load(chatId);
  }
}
