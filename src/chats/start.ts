import { Assistants } from "../assistants/assistants";
import type { Channel } from "../catalog/load-catalog";
import {
  Configurations,
  KIND_OF,
  type ChannelConfiguration,
  type ChatConfiguration,
  type SmsConfiguration,
} from "../configurations/configurations";
import { EndUsers } from "../conversation/end-users";
import { fill } from "../conversation/variables";
import { newId } from "../database/ids";
import type { Scope } from "../database/scope";
import { DomainError, missing } from "../errors";
import { Events } from "../events/events";
import { Chats, type Chat, type ChatRow } from "./chats";
import { Messages } from "./messages";

export interface StartChatInput {
  readonly assistantId: string;
  readonly channel?: Channel | null;
  readonly variables?: Record<string, unknown> | null;
  readonly metadata?: Record<string, unknown> | null;
  readonly userId?: string | null;
  readonly uniqueId?: string | null;
  readonly uniqueIdSignature?: string | null;
}

/** Opens chats. */
export class ChatStart {
  constructor(private readonly scope: Scope) {}

  /** @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, CHANNEL_DISABLED; FORBIDDEN for an unsigned `uniqueId` where it must be signed */
  async start(input: StartChatInput): Promise<Chat> {
    const { assistantId, userId, uniqueId, variables, metadata } = input;
    const channel = input.channel ?? "TEXT";
    return this.scope.transaction(async (scope) => {
      const { assistant, greeting } = await this.mayStart(scope, assistantId, channel);
      if (uniqueId != null) await this.meet(scope, assistantId, uniqueId, input.uniqueIdSignature);
      const id = newId();
      const [chat] = (await scope.insert("chats", {
        id,
        assistantId,
        channel,
        status: "in-progress",
        statusEventId: newId(),
        label: userId ?? undefined,
        userId: userId ?? undefined,
        uniqueId: uniqueId ?? undefined,
        variables: variables ?? {},
        metadata: metadata ?? {},
      })) as ChatRow[];
      await scope.of(Events).sessionStarted(chat!);
      await scope.of(Events).statusChanged(chat!);
      const content = fill(greeting, [variables ?? null, assistant.variables]);
      if (content.trim() !== "")
        await scope
          .of(Messages)
          .post({ aiChatId: id, role: "ASSISTANT", channel, content, metadata: { greeting: true } });
      return scope.of(Chats).byId(id);
    });
  }

  private async meet(
    scope: Scope,
    assistantId: string,
    uniqueId: string,
    signature: string | null | undefined,
  ): Promise<void> {
    const people = scope.of(EndUsers);
    await people.checkIdentity(uniqueId, signature);
    await people.meet(assistantId, uniqueId);
  }

  private async mayStart(scope: Scope, assistantId: string, channel: Channel) {
    const assistant = await scope.of(Assistants).byId(assistantId);
    if (assistant.template)
      throw new DomainError(
        "TEMPLATE_READ_ONLY",
        "This assistant is a template. Duplicate it, then chat with the copy.",
      );
    await this.holdLive(scope, assistantId);
    const configuration: Partial<ChatConfiguration & SmsConfiguration> & ChannelConfiguration = await scope
      .of(Configurations)
      .of(KIND_OF[channel], assistant);
    if (configuration.chatMode === false || configuration.smsMode === false)
      throw new DomainError("CHANNEL_DISABLED", `The assistant's ${channel} channel is switched off.`);
    return { assistant, greeting: configuration.initialMessage };
  }

  /** Until this chat is stored the assistant can't be deleted, which would end only the chats that it sees. */
  private async holdLive(scope: Scope, id: string): Promise<void> {
    const live = scope.table("assistants").select("id").where({ id }).whereNull("deletedAt").forShare();
    const held = (await live) as unknown[];
    if (held.length === 0) missing("Assistant");
  }
}
