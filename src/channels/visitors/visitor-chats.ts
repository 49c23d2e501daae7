import type { Visitor } from "../../account/auth/caller";
import type { JsonObject } from "../../platform/json/json-object";
import { warnOfUnusableNames } from "../../assistants/configurations/variable-names";
import { Calls, PAGE } from "../calls/calls";
import { openEngineCall, openPageCall, type WebCall } from "../calls/web-call";
import { Chats, withLabel, type Chat } from "../../chats/chats/chats";
import { Messages } from "../../chats/chats/messages";
import { mergeVariables, setVariablesOf } from "../../chats/chats/set-variables";
import { ChatStart } from "../../conversation/turns/start-chat";
import { EndUsers } from "../../chats/chats/end-users";
import { encoded } from "../../platform/database/values/encoded";
import { byAge } from "../../platform/database/lists/order";
import type { Scope } from "../../platform/database/scope";
import { DomainError, missing } from "../../platform/errors";
import { visibleMessage, type VisitorMessage } from "./visitor-messages";
import { Widgets } from "./widgets";

export interface ChatContext {
  readonly variables?: JsonObject | null;
  readonly metadata?: JsonObject | null;
}
export interface NewVisitorMessage {
  readonly chatId: string;
  readonly content: string;
  readonly clientId?: string | null;
}

/** Longest list of a visitor's chats. */
const MAX_CHATS = 20;
/** SQLSTATE of a unique violation: another request has stored the same message. */
const UNIQUE_VIOLATION = "23505";

/** Chats of visitors of web pages. A visitor sees only their own; others are reported as not found. */
export class VisitorChats {
  constructor(private readonly scope: Scope) {}

  /** @throws CHAT_NOT_FOUND */
  async byId(visitor: Visitor, id: string): Promise<Chat> {
    const [row] = await this.own(visitor).where({ id });
    return withLabel(row ?? missing("Chat", id));
  }

  /** The visitor's chats, newest first. */
  async list(visitor: Visitor): Promise<Chat[]> {
    const rows = await this.own(visitor).orderBy(byAge("desc", "startedAt")).limit(MAX_CHATS);
    return rows.map(withLabel);
  }

  /**
   * @throws the errors of `Widgets.speaker`; QUOTA_EXCEEDED; CHANNEL_DISABLED if the widget does not offer the
   * channel
   */
  async start(visitor: Visitor, channel: "TEXT" | "VOICE", context: ChatContext): Promise<Chat> {
    const { target, ...person } = await this.newChat(visitor, channel);
    if (channel === "TEXT") return this.scope.of(ChatStart).start({ ...context, ...target, ...person });
    const speaker = await this.scope.of(Widgets).speaker(target, context.variables ?? {});
    return this.scope.of(Chats).byId(await openPageCall(this.scope, speaker, { ...context, ...person }));
  }

  /** Starts a call at the voice engine. @throws as `start`; UNAVAILABLE if the engine does not open it */
  async call(visitor: Visitor, context: ChatContext): Promise<WebCall> {
    const { target, ...person } = await this.newChat(visitor, "VOICE");
    if (!this.scope.ports.voice.engine.web)
      throw new DomainError(
        "CHANNEL_DISABLED",
        "The voice engine does not support web calls. Start a chat with channel VOICE instead.",
      );
    const speaker = await this.scope.of(Widgets).speaker(target, context.variables ?? {});
    return openEngineCall(this.scope, speaker, { ...context, ...person });
  }

  /** Adds a message, once per `clientId`. @throws CHAT_NOT_FOUND, CHAT_ENDED */
  async post(visitor: Visitor, { chatId, content, clientId }: NewVisitorMessage): Promise<VisitorMessage> {
    const { channel } = await this.byId(visitor, chatId);
    if (channel === "VOICE") await this.checkNotAtEngine(chatId);
    const findByClientId = () => (clientId == null ? undefined : this.sent(chatId, clientId));
    const stored = await findByClientId();
    if (stored) return stored;
    const message = { aiChatId: chatId, role: "USER", channel, content, metadata: {} } as const;
    try {
      const own = clientId != null && { clientId };
      return visibleMessage(await this.scope.of(Messages).post({ ...message, ...own }))!; // a USER message is always visible
    } catch (error) {
      const meanwhile = (error as { code?: unknown }).code === UNIQUE_VIOLATION && (await findByClientId());
      if (meanwhile) return meanwhile;
      throw error;
    }
  }

  /**
   * Replaces variables and metadata of a chat, for later messages. Variables set by a function or the workflow stay.
   * @throws CHAT_NOT_FOUND, CHAT_ENDED
   */
  async update(visitor: Visitor, id: string, { variables, metadata }: ChatContext): Promise<Chat> {
    await this.byId(visitor, id);
    if (!variables && !metadata) return this.byId(visitor, id);
    warnOfUnusableNames(this.scope, variables);
    return this.scope.transaction(async (scope) => {
      const live = () => scope.table("chats").where({ id }).whereNot({ status: "ended" });
      const [row] = await live().forUpdate();
      if (!row) throw new DomainError("CHAT_ENDED", "The chat has ended. Start a new one.");
      const kept = row.workflowId === null ? {} : row.variables;
      const changes = {
        ...(variables && { variables: mergeVariables({ ...kept, ...variables }, setVariablesOf(row)) }),
        ...(metadata && { metadata }),
      };
      await live().update(encoded(changes));
      return withLabel({ ...row, ...changes });
    });
  }

  /** @throws CHAT_NOT_FOUND, CHAT_ENDED */
  async end(visitor: Visitor, id: string): Promise<Chat> {
    await this.byId(visitor, id);
    return this.scope.of(Chats).end(id, "ended-by-visitor");
  }

  private own(visitor: Visitor) {
    const rows = this.scope.table("chats");
    if ("chatId" in visitor) return rows.where({ id: visitor.chatId });
    const { id: visitorId, target, uniqueId = null, signed } = visitor;
    const withTarget = "deploymentId" in target ? target : { ...target, deploymentId: null };
    return rows
      .where({ ...withTarget, uniqueId })
      .whereNotNull("visitorId")
      .where((mine) => {
        mine.where({ visitorId });
        if (signed) mine.orWhere({ identityProven: true });
      });
  }

  /** The target and the person of a new chat. @throws FORBIDDEN, CHANNEL_DISABLED */
  private async newChat(visitor: Visitor, channel: "TEXT" | "VOICE") {
    if ("chatId" in visitor)
      throw new DomainError(
        "FORBIDDEN",
        "This session is limited to one chat. Start a new session with startWidgetSession.",
      );
    const { id: visitorId, target, uniqueId, signed } = visitor;
    const { textEnabled, voiceEnabled } = await this.scope.of(Widgets).of(target);
    if (!(channel === "TEXT" ? textEnabled : voiceEnabled))
      throw new DomainError(
        "CHANNEL_DISABLED",
        `The widget does not offer the channel ${channel}. Change the mode of its theme, or the type of its deployment.`,
      );
    // Signatures may have become mandatory since the session started.
    if (uniqueId !== undefined && !signed) await this.scope.of(EndUsers).checkIdentity(uniqueId, undefined);
    return {
      target,
      visitorId,
      uniqueId: uniqueId ?? null,
      identityProven: uniqueId === undefined || signed,
    };
  }

  /** @throws CONFLICT for a call at the voice engine, which hears the visitor itself */
  private async checkNotAtEngine(chatId: string): Promise<void> {
    const call = await this.scope.of(Calls).row(chatId);
    if (call && call.engine !== PAGE)
      throw new DomainError(
        "CONFLICT",
        "The voice engine hears this call itself, so messages cannot be posted. Start a chat instead.",
      );
  }

  private async sent(chatId: string, clientId: string): Promise<VisitorMessage | undefined> {
    const [row] = await this.scope.table("messages").where({ chatId, clientId });
    return row && visibleMessage(row);
  }
}
