import { Assistants } from "../assistants/assistants";
import type { Channel } from "../catalog/load-catalog";
import { Configurations } from "../configurations/configurations";
import { newId } from "../database/ids";
import type { Scope } from "../database/scope";
import { DomainError } from "../errors";
import { Chats, type Chat } from "./chats";

export interface StartChatInput {
  readonly assistantId: string;
  readonly channel?: Channel | null;
  readonly variables?: Record<string, unknown> | null;
  readonly metadata?: Record<string, unknown> | null;
  readonly userId?: string | null;
  readonly uniqueId?: string | null;
}

/** Opens chats. */
export class ChatStart {
  constructor(private readonly scope: Scope) {}

  /** @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, CHANNEL_DISABLED */
  async start({
    assistantId,
    channel,
    variables,
    metadata,
    userId,
    uniqueId,
  }: StartChatInput): Promise<Chat> {
    return this.scope.transaction(async (scope) => {
      await this.mayStart(scope, assistantId, channel ?? "TEXT");
      const id = newId();
      await scope.insert("chats", {
        id,
        assistantId,
        channel: channel ?? "TEXT",
        status: "in-progress",
        statusEventId: newId(),
        label: userId ?? undefined,
        userId: userId ?? undefined,
        uniqueId: uniqueId ?? undefined,
        variables: variables ?? {},
        metadata: metadata ?? {},
      });
      return scope.of(Chats).byId(id);
    });
  }

  private async mayStart(scope: Scope, assistantId: string, channel: Channel): Promise<void> {
    const assistant = await scope.of(Assistants).byId(assistantId);
    if (assistant.template)
      throw new DomainError(
        "TEMPLATE_READ_ONLY",
        "This assistant is a template. Duplicate it, then chat with the copy.",
      );
    const configurations = scope.of(Configurations);
    const off =
      (channel === "TEXT" && !(await configurations.of("chat", assistant)).chatMode) ||
      (channel === "SMS" && !(await configurations.of("sms", assistant)).smsMode);
    if (off) throw new DomainError("CHANNEL_DISABLED", `The assistant's ${channel} channel is switched off.`);
  }
}
