import { createClient, type Client } from "graphql-ws";
import { ENDPOINT } from "./api";
import { READ_CHAT, WATCH_CHAT, type ChatEvent, type Message, type WatchChat } from "./operations.generated";
import type { AnySession } from "./session";

/** An event, or what was read in its place; null is nothing new. */
export type Heard = Pick<ChatEvent, "name"> & {
  readonly [K in "text" | "message" | "status" | "activity"]: ChatEvent[K] | null;
};

export interface Listening {
  /** Id of the last message that was seen, "0" before the first. */
  place(): string;
  /** Whether an answer is awaited: then it is asked for more often. */
  awaiting(): boolean;
  heard(event: Heard): void;
  /** Whether pieces of an answer come as they are written. */
  linked(live: boolean): void;
}

/** In milliseconds. */
const PING = 10_000;
const PONG = 5_000;
/** How long a first message waits for the socket, so that the answer is seen as it is written. */
const OPENING = 1_200;
const ASK = { first: 1_500, awaiting: 1_200, idle: 5_000 };
const AGAIN = { least: 500, most: 15_000 };

/** What happens in a chat: over a socket, and by asking for as long as there is none. */
export class Feed {
  /** Resolves when pieces of answers come, or when it is better not to wait for them. */
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
    private readonly listening: Listening,
  ) {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
      setTimeout(resolve, OPENING);
    });
    this.client = this.connected();
    addEventListener("online", this.hurry);
    addEventListener("offline", this.drop);
    void this.watch();
    this.askIn(ASK.first);
  }

  private connected(): Client {
    const url = new URL(ENDPOINT);
    url.protocol = url.protocol.replace("http", "ws");
    return createClient({
      url: url.href,
      retryAttempts: 0,
      keepAlive: PING,
      connectionParams: () => this.session.credential(),
      on: {
        connected: () => this.link(true),
        closed: () => this.link(false),
        ping: (received) => {
          if (!received) this.unanswered = setTimeout(() => this.client.terminate(), PONG);
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
    removeEventListener("online", this.hurry);
    removeEventListener("offline", this.drop);
    this.wake();
    void this.client.dispose();
  }

  private readonly hurry = () => {
    this.tries = 0;
    this.wake();
    this.askIn(0);
  };

  private readonly drop = () => this.client.terminate();

  private link(live: boolean): void {
    clearTimeout(this.unanswered);
    this.live = live;
    this.open();
    if (live) this.tries = 0;
    else if (!this.stopped) this.askIn(ASK.first);
    this.listening.linked(live);
  }

  private async watch(): Promise<void> {
    while (!this.stopped) {
      const variables = { chatId: this.chatId, after: this.listening.place() };
      const events = this.client.iterate<WatchChat>({ query: WATCH_CHAT, variables });
      try {
        for await (const { data } of events) if (data && !this.stopped) this.listening.heard(data.result);
      } catch {
        // the asking goes on until the next try
      }
      await this.pause(Math.min(AGAIN.least * 2 ** this.tries++, AGAIN.most));
    }
  }

  private pause(time: number): Promise<void> {
    if (this.stopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, time);
    });
  }

  private askIn(time: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), time);
  }

  private async ask(): Promise<void> {
    if (this.live || this.stopped) return;
    const { listening, chatId: id } = this;
    if (listening.awaiting() || !document.hidden) {
      const after = listening.place();
      await this.session
        .run(READ_CHAT, { id, after: after === "0" ? null : after })
        .then(({ messages, status }) => this.tell(messages, status))
        .catch(() => undefined);
    }
    if (!this.live && !this.stopped) this.askIn(listening.awaiting() ? ASK.awaiting : ASK.idle);
  }

  private tell(messages: readonly Message[], status: string): void {
    if (this.stopped) return;
    const event = { text: null, message: null, status: null, activity: null };
    for (const message of messages) this.listening.heard({ ...event, name: "message", message });
    this.listening.heard({ ...event, name: "status", status });
  }
}
