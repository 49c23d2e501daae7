import { batch, signal } from "@preact/signals";
import type { PageData } from "../protocol";
import { codeOf, isTransient, pauseBefore } from "./api";
import { Feed, type FeedEvent, type FeedListener } from "./feed";
import {
  END_CHAT,
  POST_MESSAGE,
  READ_CHAT,
  START_CHAT,
  UPDATE_CHAT,
  type ChatSummary,
  type Message,
  type ReadChat,
  type WidgetChannel,
} from "./operations.generated";
import { Outbox } from "./outbox";
import type { AnySession } from "./session";
import { forTab } from "./storage";

export interface ConversationOptions {
  readonly channel: WidgetChannel;
  readonly data: () => PageData;
  /** Storage key of the chat's id in this tab; without it a reload starts a new chat. */
  readonly storageKey?: string;
  readonly outbox?: Outbox;
  readonly onMessage?: (message: Message) => void;
  readonly onError?: (error: unknown, where: string) => void;
}

/** A chat as the visitor sees it. */
export class Conversation {
  readonly chat = signal<ChatSummary | undefined>(undefined);
  readonly messages = signal<readonly Message[]>([]);
  readonly draft = signal("");
  readonly activity = signal("");
  readonly awaiting = signal(false);
  readonly offline = signal(false);
  readonly pauseSeconds = signal(0); // as a rate limit has demanded; 0 without one
  readonly outbox: Outbox;
  private feed: Feed | undefined;
  private live = false;
  /** Whether the current answer was received from its start; otherwise its pieces are not shown. */
  private hasWholeDraft = false;
  private sending = false;
  private tries = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private updated: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly session: AnySession,
    private readonly options: ConversationOptions,
  ) {
    this.outbox = options.outbox ?? new Outbox();
    addEventListener("online", () => void this.deliver());
  }

  get ended(): boolean {
    return this.chat.value?.status === "ended";
  }

  /** Resumes the chat of this tab and sends unsent messages. */
  async resume(): Promise<void> {
    const id = this.options.storageKey && forTab.read(this.options.storageKey);
    if (typeof id === "string")
      await this.open(id).catch((error: unknown) => {
        if (isTransient(error)) throw error;
        this.remember(undefined);
      });
    void this.deliver();
  }

  async open(id: string): Promise<void> {
    this.adopt(await this.session.run(READ_CHAT, { id }));
  }

  /** Starts a chat. @throws ApiError */
  async begin(): Promise<void> {
    const { channel, data } = this.options;
    this.adopt(await this.session.run(START_CHAT, { input: { channel, ...data() } }));
  }

  send(content: string): void {
    const text = content.trim();
    if (text === "") return;
    this.outbox.add(text);
    void this.deliver();
  }

  retry(clientId: string): void {
    this.outbox.mark(clientId, false);
    void this.deliver();
  }

  /** Updates the values of a live chat; the next message waits for the update. */
  update(): void {
    const chat = this.chat.value;
    if (!chat || this.ended) return;
    const input = { chatId: chat.id, ...this.options.data() };
    this.updated = this.session
      .run(UPDATE_CHAT, { input })
      .catch((error: unknown) => this.options.onError?.(error, "initializeAssistant"));
  }

  /** Detaches from the chat without ending it. */
  leave(): void {
    this.feed?.stop();
    this.feed = undefined;
    this.outbox.clear();
    this.remember(undefined);
    batch(() => {
      this.chat.value = undefined;
      this.messages.value = [];
      this.resetDraft();
    });
  }

  async end(): Promise<void> {
    const chat = this.chat.value;
    const over = this.ended;
    this.leave();
    if (chat && !over) await this.session.run(END_CHAT, { id: chat.id }).catch(() => undefined);
  }

  private adopt({ messages, ...chat }: NonNullable<ReadChat["result"]>): void {
    this.feed?.stop();
    this.remember(chat.id);
    batch(() => {
      this.resetDraft();
      this.chat.value = chat;
      this.messages.value = messages;
      this.awaiting.value = !this.ended && messages.at(-1)?.role === "USER";
    });
    if (!this.ended) this.feed = new Feed(this.session, chat.id, this.listener());
  }

  private remember(id: string | undefined): void {
    const { storageKey } = this.options;
    if (storageKey === undefined) return;
    if (id === undefined) forTab.forget(storageKey);
    else forTab.write(storageKey, id);
  }

  private resetDraft(): void {
    this.awaiting.value = false;
    this.draft.value = "";
    this.activity.value = "";
    this.hasWholeDraft = false;
  }

  private async deliver(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    clearTimeout(this.timer);
    try {
      for (let item = this.outbox.next; item; item = this.outbox.next) {
        if (!this.chat.value || this.ended) await this.begin();
        await this.feed?.opened;
        await this.updated;
        this.hasWholeDraft = this.live;
        this.awaiting.value = true;
        const input = { chatId: this.chat.value!.id, content: item.content, clientId: item.clientId };
        this.stored(await this.session.run(POST_MESSAGE, { input }), item.clientId);
        this.delivered();
      }
    } catch (error) {
      this.handleFailure(error);
    } finally {
      this.sending = false;
    }
  }

  private delivered(): void {
    this.tries = 0;
    this.offline.value = false;
    this.pauseSeconds.value = 0;
  }

  private handleFailure(error: unknown): void {
    this.awaiting.value = false;
    if (["CHAT_ENDED", "CHAT_NOT_FOUND"].includes(codeOf(error)) && this.chat.value) {
      // The chat has ended or was deleted in the meantime: the message starts the next chat.
      this.chat.value = { ...this.chat.value, status: "ended" };
      this.later(0);
    } else if (isTransient(error)) {
      this.offline.value = codeOf(error) === "NETWORK";
      const pause = pauseBefore(error, this.tries++);
      this.pauseSeconds.value = codeOf(error) === "RATE_LIMITED" ? Math.ceil(pause / 1_000) : 0;
      this.later(pause);
    } else {
      if (this.outbox.next) this.outbox.mark(this.outbox.next.clientId, true);
      this.options.onError?.(error, "postWidgetMessage");
    }
  }

  private later(time: number): void {
    this.timer = setTimeout(() => void this.deliver(), time);
  }

  private stored(message: Message, clientId: string | null): void {
    batch(() => {
      if (clientId !== null) this.outbox.remove(clientId);
      if (this.messages.value.some(({ id }) => id === message.id)) return;
      // Ids sort by creation time. An answer may arrive before the confirmation of its question.
      const messages = [...this.messages.value, message];
      this.messages.value = messages.sort((a, b) => (a.id < b.id ? -1 : 1));
      if (message.role === "ASSISTANT") this.resetDraft();
      this.options.onMessage?.(message);
    });
  }

  private listener(): FeedListener {
    return {
      position: () => this.messages.value.at(-1)?.id ?? "0",
      awaiting: () => this.awaiting.value,
      onEvent: (event) => this.handle(event),
      onLink: (live) => {
        this.live = live;
        if (live) this.delivered();
        else {
          this.draft.value = "";
          this.hasWholeDraft = false;
        }
      },
    };
  }

  private handle({ name, message, status, text, activity }: FeedEvent): void {
    if (name === "message" && message) this.stored(message, message.clientId);
    else if (name === "status" && status) this.setStatus(status);
    else if (name === "token" && this.hasWholeDraft) this.draft.value += text ?? "";
    else if (name === "token-reset") this.draft.value = "";
    else if (name === "activity") this.setActivity(activity ?? "");
  }

  private setStatus(status: string): void {
    const chat = this.chat.value;
    if (!chat || chat.status === status) return;
    this.chat.value = { ...chat, status };
    if (status !== "ended") return;
    this.feed?.stop();
    this.resetDraft();
  }

  private setActivity(activity: string): void {
    if (activity === "listening") return;
    if (activity === "thinking") this.hasWholeDraft = this.live;
    this.awaiting.value = true;
    this.activity.value = activity;
  }
}
