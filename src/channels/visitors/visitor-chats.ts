import type { Visitor } from "../../account/auth/caller";
import type { JsonObject } from "../../platform/json/json-object";
import { Calls, PAGE } from "../calls/calls";
import { openEngineCall, openPageCall, type WebCall } from "../calls/web-call";
import { Chats, labelled, type Chat } from "../../chats/chats/chats";
import { Messages } from "../../chats/chats/messages";
import { overruled, setIn } from "../../chats/chats/set-variables";
import { ChatStart } from "../../conversation/turns/start-chat";
import { EndUsers } from "../../chats/chats/end-users";
import { encoded } from "../../platform/database/encoded";
import { byAge } from "../../platform/database/order";
import type { Scope } from "../../platform/database/scope";
import { DomainError, missing } from "../../platform/errors";
import { shownMessage, type VisitorMessage } from "./visitor-messages";
import { Widgets } from "./widgets";

export interface Passed {
  readonly variables?: JsonObject | null;
  readonly metadata?: JsonObject | null;
}
export interface NewVisitorMessage {
  readonly chatId: string;
  readonly content: string;
  readonly clientId?: string | null;
}

/** Most chats in the list of a visitor. */
const MOST_CHATS = 20;
/** Of two that store the same message, the second finds it. */
const DUPLICATE = "23505";

/** The chats of visitors of web pages. Each sees its own; another's is as one that does not exist. */
export class VisitorChats {
  constructor(private readonly scope: Scope) {}

  /** @throws CHAT_NOT_FOUND */
  async byId(visitor: Visitor, id: string): Promise<Chat> {
    const [row] = await this.own(visitor).where({ id });
    return labelled(row ?? missing("Chat"));
  }

  /** The newest first. */
  async list(visitor: Visitor): Promise<Chat[]> {
    const rows = await this.own(visitor).orderBy(byAge("desc", "startedAt")).limit(MOST_CHATS);
    return rows.map(labelled);
  }

  /** @throws what `Widgets.speaker` throws, QUOTA_EXCEEDED; CHANNEL_DISABLED where the widget does not offer the channel */
  async start(visitor: Visitor, channel: "TEXT" | "VOICE", passed: Passed): Promise<Chat> {
    const { target, ...person } = await this.beginning(visitor, channel);
    if (channel === "TEXT") return this.scope.of(ChatStart).start({ ...passed, ...target, ...person });
    const speaker = await this.scope.of(Widgets).speaker(target, passed.variables ?? {});
    return this.scope.of(Chats).byId(await openPageCall(this.scope, speaker, { ...passed, ...person }));
  }

  /** A call that the voice engine holds. @throws as `start`; UNAVAILABLE when the engine does not open it */
  async call(visitor: Visitor, passed: Passed): Promise<WebCall> {
    const { target, ...person } = await this.beginning(visitor, "VOICE");
    if (!this.scope.ports.voice.engine.web)
      throw new DomainError(
        "CHANNEL_DISABLED",
        "No voice engine holds calls from web pages here: start a chat of the channel VOICE.",
      );
    const speaker = await this.scope.of(Widgets).speaker(target, passed.variables ?? {});
    return openEngineCall(this.scope, speaker, { ...passed, ...person });
  }

  /** Adds a message, once for each `clientId`. @throws CHAT_NOT_FOUND, CHAT_ENDED */
  async post(visitor: Visitor, { chatId, content, clientId }: NewVisitorMessage): Promise<VisitorMessage> {
    const { channel } = await this.byId(visitor, chatId);
    if (channel === "VOICE") await this.checkHeldHere(chatId);
    const sent = () => (clientId == null ? undefined : this.sent(chatId, clientId));
    const stored = await sent();
    if (stored) return stored;
    const message = { aiChatId: chatId, role: "USER", channel, content, metadata: {} } as const;
    try {
      const own = clientId != null && { clientId };
      return shownMessage(await this.scope.of(Messages).post({ ...message, ...own }))!; // somebody said it
    } catch (error) {
      const meanwhile = (error as { code?: unknown }).code === DUPLICATE && (await sent());
      if (meanwhile) return meanwhile;
      throw error;
    }
  }

  /**
   * Gives a chat other variables and metadata, for what is said from now on. Variables that a function or the workflow
   * has set stay. @throws CHAT_NOT_FOUND, CHAT_ENDED
   */
  async update(visitor: Visitor, id: string, { variables, metadata }: Passed): Promise<Chat> {
    await this.byId(visitor, id);
    if (!variables && !metadata) return this.byId(visitor, id);
    return this.scope.transaction(async (scope) => {
      const live = () => scope.table("chats").where({ id }).whereNot({ status: "ended" });
      const [row] = await live().forUpdate();
      if (!row) throw new DomainError("CHAT_ENDED", "The chat has ended.");
      const kept = row.workflowId === null ? {} : row.variables;
      const changes = {
        ...(variables && { variables: overruled({ ...kept, ...variables }, setIn(row)) }),
        ...(metadata && { metadata }),
      };
      await live().update(encoded(changes));
      return labelled({ ...row, ...changes });
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

  /** Who begins a chat, and with whom. */
  private async beginning(visitor: Visitor, channel: "TEXT" | "VOICE") {
    if ("chatId" in visitor)
      throw new DomainError("FORBIDDEN", "This session holds one chat: it starts no others.");
    const { id: visitorId, target, uniqueId, signed } = visitor;
    const { textEnabled, voiceEnabled } = await this.scope.of(Widgets).of(target);
    if (!(channel === "TEXT" ? textEnabled : voiceEnabled))
      throw new DomainError("CHANNEL_DISABLED", `The assistant's ${channel} channel is switched off.`);
    // It may have to be signed since the session began.
    if (uniqueId !== undefined && !signed) await this.scope.of(EndUsers).checkIdentity(uniqueId, undefined);
    return {
      target,
      visitorId,
      uniqueId: uniqueId ?? null,
      identityProven: uniqueId === undefined || signed,
    };
  }

  /** @throws CONFLICT for a call that the voice engine holds: it hears what is said by itself */
  private async checkHeldHere(chatId: string): Promise<void> {
    const call = await this.scope.of(Calls).row(chatId);
    if (call && call.engine !== PAGE)
      throw new DomainError("CONFLICT", "The voice engine holds this call: what is said comes from there.");
  }

  private async sent(chatId: string, clientId: string): Promise<VisitorMessage | undefined> {
    const [row] = await this.scope.table("messages").where({ chatId, clientId });
    return row && shownMessage(row);
  }
}
