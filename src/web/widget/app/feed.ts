import { createClient, type Client } from "graphql-ws";
import { ENDPOINT } from "./api";
import { READ_CHAT, WATCH_CHAT, type ChatEvent, type Message, type WatchChat } from "./operations.generated";
import type { AnySession } from "./session";

/** An event, or the result of polling; null fields carry nothing new. */
export type FeedEvent = Pick<ChatEvent, "name"> & {
  readonly [K in "text" | "message" | "status" | "activity"]: ChatEvent[K] | null;
};

export interface FeedListener {
  /** Id of the last message received, "0" before the first. */
  position(): string;
  /** Whether an answer is awaited, which increases the polling rate. */
  awaiting(): boolean;
  onEvent(event: FeedEvent): void;
  /** Called when streaming of answers starts or stops. */
  onLink(live: boolean): void;
}

/** Interval of pings, and the timeout of each pong. */
const PING_INTERVAL_MS = 10_000;
const PONG_TIMEOUT_MS = 5_000;
/** How long the first message waits for the socket, so that its answer is streamed, in ms. */
const OPEN_TIMEOUT_MS = 1_200;
const POLL_INTERVAL_MS = { first: 1_500, awaiting: 1_200, idle: 5_000 };
const RECONNECT_PAUSE_MS = { min: 500, max: 15_000 };

/** The events of a chat: over a WebSocket, or by polling while there is none. */
export class Feed {
  /** Resolves when the socket is open, or when waiting for it takes too long. */
  readonly opened: Promise<void>;
  private readonly client: Client;
  private stopped = false;
  private live = false;
  private tries = 0;
  private open: () => void = () => undefined;
  private wake: () => void = () => undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private unanswered: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly session: AnySession,
    private readonly chatId: string,
    private readonly listener: FeedListener,
  ) {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
      setTimeout(resolve, OPEN_TIMEOUT_MS);
    });
    this.client = this.connected();
    addEventListener("online", this.reconnect);
    addEventListener("offline", this.disconnect);
    void this.watch();
    this.pollIn(POLL_INTERVAL_MS.first);
  }

  private connected(): Client {
    const url = new URL(ENDPOINT);
    url.protocol = url.protocol.replace("http", "ws");
    return createClient({
      url: url.href,
      retryAttempts: 0,
      keepAlive: PING_INTERVAL_MS,
      connectionParams: () => this.session.credential(),
      on: {
        connected: () => this.link(true),
        closed: () => this.link(false),
        ping: (received) => {
          if (!received) this.unanswered = setTimeout(() => this.client.terminate(), PONG_TIMEOUT_MS);
        },
        pong: (received) => {
          if (received) clearTimeout(this.unanswered);
        },
      },
    });
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    clearTimeout(this.unanswered);
    removeEventListener("online", this.reconnect);
    removeEventListener("offline", this.disconnect);
    this.wake();
    void this.client.dispose();
  }

  private readonly reconnect = () => {
    this.tries = 0;
    this.wake();
    this.pollIn(0);
  };

  private readonly disconnect = () => this.client.terminate();

  private link(live: boolean): void {
    clearTimeout(this.unanswered);
    this.live = live;
    this.open();
    if (live) this.tries = 0;
    else if (!this.stopped) this.pollIn(POLL_INTERVAL_MS.first);
    this.listener.onLink(live);
  }

  private async watch(): Promise<void> {
    while (!this.stopped) {
      const variables = { chatId: this.chatId, after: this.listener.position() };
      const events = this.client.iterate<WatchChat>({ query: WATCH_CHAT, variables });
      try {
        for await (const { data } of events) if (data && !this.stopped) this.listener.onEvent(data.result);
      } catch {
        // polling continues until the next attempt
      }
      await this.pause(Math.min(RECONNECT_PAUSE_MS.min * 2 ** this.tries++, RECONNECT_PAUSE_MS.max));
    }
  }

  private pause(time: number): Promise<void> {
    if (this.stopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, time);
    });
  }

  private pollIn(time: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.poll(), time);
  }

  private async poll(): Promise<void> {
    if (this.live || this.stopped) return;
    const { listener, chatId: id } = this;
    if (listener.awaiting() || !document.hidden) {
      const after = listener.position();
      await this.session
        .run(READ_CHAT, { id, after: after === "0" ? null : after })
        .then(({ messages, status }) => this.report(messages, status))
        .catch(() => undefined);
    }
    if (!this.live && !this.stopped)
      this.pollIn(listener.awaiting() ? POLL_INTERVAL_MS.awaiting : POLL_INTERVAL_MS.idle);
  }

  private report(messages: readonly Message[], status: string): void {
    if (this.stopped) return;
    const event = { text: null, message: null, status: null, activity: null };
    for (const message of messages) this.listener.onEvent({ ...event, name: "message", message });
    this.listener.onEvent({ ...event, name: "status", status });
  }
}
