import { batch, signal } from "@preact/signals";
import type { PageData } from "../protocol";
import { ApiError, codeOf, isPassing } from "./api";
import { Feed, type Listening } from "./feed";
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
  /** Where the tab keeps which chat it is; without it a reload begins anew. */
  readonly place?: string;
  readonly onMessage?: (message: Message) => void;
  readonly onError?: (error: unknown, where: string) => void;
}

const AGAIN = { least: 1_000, most: 20_000 };

/** One chat as the visitor sees it, from its first word on. */
export class Conversation {
  readonly chat = signal<ChatSummary | undefined>(undefined);
  readonly messages = signal<readonly Message[]>([]);
  readonly draft = signal("");
  readonly activity = signal("");
  readonly awaiting = signal(false);
  readonly offline = signal(false);
  readonly outbox: Outbox;
  private feed: Feed | undefined;
  private live = false;
  /** A reader who came in the middle of an answer would see its end only. */
  private sawBeginning = false;
  private sending = false;
  private tries = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private updated: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly session: AnySession,
    private readonly options: ConversationOptions,
  ) {
    this.outbox = new Outbox(options.place && `${options.place}:unsent`);
    addEventListener("online", () => void this.deliver());
  }

  get ended(): boolean {
    return this.chat.value?.status === "ended";
  }

  /** Goes on with the chat that this tab had, and sends what it could not. */
  async resume(): Promise<void> {
    const { place } = this.options;
    const id = place === undefined ? null : forTab.read(place);
    if (typeof id === "string")
      await this.open(id).catch((error: unknown) => {
        if (isPassing(error)) throw error;
        this.keep(undefined);
      });
    void this.deliver();
  }

  async open(id: string): Promise<void> {
    this.adopt(await this.session.run(READ_CHAT, { id }));
  }

  /** @throws ApiError where the service opens no chat */
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

  again(clientId: string): void {
    this.outbox.mark(clientId, false);
    void this.deliver();
  }

  /** Fresh values for a chat that goes on; the next message waits for them. */
  update(): void {
    const chat = this.chat.value;
    if (!chat || this.ended) return;
    const input = { chatId: chat.id, ...this.options.data() };
    this.updated = this.session
      .run(UPDATE_CHAT, { input })
      .catch((error: unknown) => this.options.onError?.(error, "initializeAssistant"));
  }

  /** Leaves the chat as it is, and is ready for another. */
  leave(): void {
    this.feed?.stop();
    this.feed = undefined;
    this.outbox.clear();
    this.keep(undefined);
    batch(() => {
      this.chat.value = undefined;
      this.messages.value = [];
      this.rest();
    });
  }

  async end(): Promise<void> {
    const chat = this.chat.value;
    const over = this.ended;
    this.leave();
    if (chat && !over) await this.session.run(END_CHAT, { id: chat.id }).catch(() => undefined);
  }

  private adopt({ messages, ...chat }: ReadChat["result"]): void {
    this.feed?.stop();
    this.keep(chat.id);
    batch(() => {
      this.rest();
      this.chat.value = chat;
      this.messages.value = messages;
      this.awaiting.value = !this.ended && messages.at(-1)?.role === "USER";
    });
    if (!this.ended) this.feed = new Feed(this.session, chat.id, this.listening());
  }

  private keep(id: string | undefined): void {
    const { place } = this.options;
    if (place === undefined) return;
    if (id === undefined) forTab.forget(place);
    else forTab.write(place, id);
  }

  private rest(): void {
    this.awaiting.value = false;
    this.draft.value = "";
    this.activity.value = "";
    this.sawBeginning = false;
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
        this.sawBeginning = this.live;
        this.awaiting.value = true;
        const input = { chatId: this.chat.value!.id, content: item.content, clientId: item.clientId };
        this.stored(await this.session.run(POST_MESSAGE, { input }), item.clientId);
        this.reached();
      }
    } catch (error) {
      this.undelivered(error);
    } finally {
      this.sending = false;
    }
  }

  private reached(): void {
    this.tries = 0;
    this.offline.value = false;
  }

  private undelivered(error: unknown): void {
    const item = this.outbox.next;
    this.awaiting.value = false;
    if (codeOf(error) === "CHAT_ENDED" && this.chat.value) {
      // It ended meanwhile: what was said begins the next one.
      this.chat.value = { ...this.chat.value, status: "ended" };
      this.later(0);
    } else if (isPassing(error)) {
      this.offline.value = codeOf(error) === "NETWORK";
      const told = error instanceof ApiError ? error.retryAfter : undefined;
      this.later(told ?? Math.min(AGAIN.least * 2 ** this.tries++, AGAIN.most));
    } else {
      if (item) this.outbox.mark(item.clientId, true);
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
      // Ids sort by creation; an answer may have come before the word of what it answers.
      const messages = [...this.messages.value, message];
      this.messages.value = messages.sort((a, b) => (a.id < b.id ? -1 : 1));
      if (message.role === "ASSISTANT") this.rest();
      this.options.onMessage?.(message);
    });
  }

  private listening(): Listening {
    return {
      place: () => this.messages.value.at(-1)?.id ?? "0",
      awaiting: () => this.awaiting.value,
      heard: (event) => this.hear(event),
      linked: (live) => {
        this.live = live;
        if (live) this.reached();
        else {
          this.draft.value = "";
          this.sawBeginning = false;
        }
      },
    };
  }

  private hear({ name, message, status, text, activity }: Parameters<Listening["heard"]>[0]): void {
    if (name === "message" && message) this.stored(message, message.clientId);
    else if (name === "status" && status) this.turned(status);
    else if (name === "token" && this.sawBeginning) this.draft.value += text ?? "";
    else if (name === "token-reset") this.draft.value = "";
    else if (name === "activity") this.does(activity ?? "");
  }

  private turned(status: string): void {
    const chat = this.chat.value;
    if (!chat || chat.status === status) return;
    this.chat.value = { ...chat, status };
    if (status !== "ended") return;
    this.feed?.stop();
    this.rest();
  }

  private does(activity: string): void {
    if (activity === "listening") return;
    if (activity === "thinking") this.sawBeginning = this.live;
    this.awaiting.value = true;
    this.activity.value = activity;
  }
}
