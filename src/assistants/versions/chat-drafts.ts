import type { Scope } from "../../platform/database/scope";
import { secretsOfStored, type SecretsBySlot } from "../history/function-secrets";
import type { DraftCopy, PinColumns } from "./pins";

/** Copies of drafts that conversations run: a later change of the draft does not change them. */
export class ChatDrafts {
  constructor(private readonly scope: Scope) {}

  /** The copy of a chat; undefined if the chat has ended. */
  of(chatId: string): Promise<DraftCopy | undefined> {
    const loader = this.scope.loader<DraftCopy | undefined>("chatDrafts", async (ids) => {
      const rows = await this.scope.table("chat_drafts").whereIn("chatId", ids);
      return ids.map((id) => {
        const row = rows.find((one) => one.chatId === id);
        return row && { content: row.content, secrets: this.opened(id, row.sealedSecrets) };
      });
    });
    return loader.load(chatId);
  }

  /** Stores the copy of a new chat, in its transaction. */
  async store(chatId: string, { content, secrets }: DraftCopy): Promise<void> {
    const { crypto } = this.scope.ports;
    const isEmpty = Object.keys(secrets).length === 0;
    const sealedSecrets = isEmpty ? null : crypto.seal(JSON.stringify(secrets), this.context(chatId));
    await this.scope.insert("chat_drafts", { chatId, content, sealedSecrets });
  }

  /** Removes the copies of chats that have ended. */
  async remove(chats: readonly Pick<PinColumns, "id" | "runsDraft">[]): Promise<void> {
    const ids = chats.filter(({ runsDraft }) => runsDraft).map(({ id }) => id);
    if (ids.length > 0) await this.scope.table("chat_drafts").whereIn("chatId", ids).delete();
  }

  private opened(chatId: string, sealed: string | null): SecretsBySlot {
    if (sealed === null) return {};
    const secrets = JSON.parse(this.scope.ports.crypto.open(sealed, this.context(chatId))) as SecretsBySlot; // as `store` wrote it
    return secretsOfStored(secrets);
  }

  private context(chatId: string): string {
    return `${this.scope.organizationId}/chat_drafts/${chatId}`;
  }
}
